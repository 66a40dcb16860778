import { strict as assert } from 'node:assert'
import { tokenBySymbol } from '../../src/kernel/tokens.js'
import { post } from './api.js'
import { type DemoContext, tipsOnStreams } from './context.js'

const timeoutMs = 10_000

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
