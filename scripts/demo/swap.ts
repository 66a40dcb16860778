import { strict as assert } from 'node:assert'
import { displayNumber } from '../../src/kernel/money.js'
import { solMint } from '../../src/kernel/tokens.js'
import { callApi, callWithSession, type Json } from './api.js'
import { type DemoContext, eventsOnStreams } from './context.js'

/** The tip in SOL. */
const amount = 0.1
const lamports = 100_000_000
const usdcDecimals = 6
const timeoutMs = 10_000
const message = 'changed on its way'

/** A tip in SOL to a creator who takes USDC. The supporter signs one transaction of a swap engine, and USDC arrives. */
export async function tipThroughSwap(context: DemoContext): Promise<void> {
  const { web, creator, supporter, say } = context
  const changes = { settings: { autoConvertUsdc: true } }
  await callWithSession(web, 'PATCH', '/creators/me', creator.cookie, changes)
  say('the creator now receives every tip in USDC')

  const intent = await callApi(web, 'POST', '/payments/intent', {
    creatorId: creator.id,
    amount,
    inputTokenMint: solMint,
    sourceWalletAddress: supporter.wallet,
  })
  const promised = displayNumber(BigInt((intent['quote'] as { outAmount: string }).outAmount), usdcDecimals)
  say(`${intent['provider']} promises ${promised} USDC for ${amount} SOL`)
  const txSignature = await supporter.signAndSubmit(intent['transaction'] as string)
  const claim: Json = {
    creatorWallet: creator.wallet,
    senderWallet: supporter.wallet,
    tipAmount: lamports,
    txSignature,
    message,
  }
  await callApi(web, 'POST', '/chain/tips/create', claim)
  const events = await eventsOnStreams(context, message, timeoutMs)
  for (const { data } of events) {
    assert.equal(data['tokenSymbol'], 'USDC')
    assert.equal(data['sender'], supporter.wallet)
    assert(Number(data['amount']) >= promised, 'no less arrived than was promised')
  }
  say(`${events[0]?.data['amount']} USDC arrived and are on both streams`)
}
