import { strict as assert } from 'node:assert'
import { displayNumber } from '../../src/kernel/money.js'
import { callAsCreator, type DemoContext } from './context.js'
import { sendTip } from './send-tip.js'

/** The tip in SOL. */
const amount = 0.1
const usdcDecimals = 6

/** A tip in SOL to a creator who takes USDC. The supporter signs one transaction of a swap engine, and USDC arrives. */
export async function tipThroughSwap(context: DemoContext): Promise<void> {
  const { supporter, say } = context
  await callAsCreator(context, 'PATCH', '/creators/me', { settings: { autoConvertUsdc: true } })
  say('the creator now receives every tip in USDC')

  const { intent, arrived } = await sendTip(context, 'SOL', amount, 'changed on its way')
  const promised = displayNumber(BigInt((intent['quote'] as { outAmount: string }).outAmount), usdcDecimals)
  say(`${intent['provider']} promises ${promised} USDC for ${amount} SOL`)
  for (const { tip } of arrived) {
    assert.deepEqual([tip.tokenSymbol, tip.sender], ['USDC', supporter.wallet])
    assert(tip.amount >= promised, 'no less arrived than was promised')
  }
  say(`${arrived[0]?.tip.amount} USDC arrived and are on both streams`)
}
