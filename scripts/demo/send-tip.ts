import { strict as assert } from 'node:assert'
import { displayNumber } from '../../src/kernel/money.js'
import { tokenBySymbol } from '../../src/kernel/tokens.js'
import { post } from './api.js'
import { callAsCreator, type DemoContext, tipsOnStreams } from './context.js'

const timeoutMs = 10_000
/** The tip in SOL. */
const swapped = 0.1
const usdcDecimals = 6

/** Sends a tip: the intent, the supporter's signature, the report of it, and the tip on every stream. */
export async function sendTip(context: DemoContext, symbol: string, amount: number, message: string) {
  const { web, creator, supporter } = context
  const token = tokenBySymbol(symbol)
  assert(token, `${symbol} is a known token`)
  const intent = await post(`${web}/payments/intent`, {
    creatorId: creator.id,
    amount,
    inputTokenMint: token.mint,
    sourceWalletAddress: supporter.wallet,
  })
  assert.equal(intent['status'], 'requires_action')
  const txSignature = await supporter.signAndSubmit(intent['transaction'] as string)
  const landedAt = performance.now()
  const recorded = await post(`${web}/chain/tips/create`, {
    creatorWallet: creator.wallet,
    tipAmount: Math.round(amount * 10 ** token.decimals),
    senderWallet: supporter.wallet,
    txSignature,
    tokenSymbol: symbol,
    message,
  })
  assert.equal(recorded['message'], 'Tip recorded successfully')
  return { intent, landedAt, arrived: await tipsOnStreams(context, message, timeoutMs) }
}

/** A tip in SOL to a creator who takes USDC. The supporter signs one transaction of a swap engine, and USDC arrives. */
export async function tipThroughSwap(context: DemoContext): Promise<void> {
  const { supporter, say } = context
  await callAsCreator(context, 'PATCH', '/creators/me', { settings: { autoConvertUsdc: true } })
  say('the creator now receives every tip in USDC')

  const { intent, arrived } = await sendTip(context, 'SOL', swapped, 'changed on its way')
  const promised = displayNumber(BigInt((intent['quote'] as { outAmount: string }).outAmount), usdcDecimals)
  say(`${intent['provider']} promises ${promised} USDC for ${swapped} SOL`)
  for (const { tip } of arrived) {
    assert.deepEqual([tip.tokenSymbol, tip.sender], ['USDC', supporter.wallet])
    assert(tip.amount >= promised, 'no less arrived than was promised')
  }
  say(`${arrived[0]?.tip.amount} USDC arrived and are on both streams`)
}
