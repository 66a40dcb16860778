import { strict as assert } from 'node:assert'
import { displayNumber } from '../../src/kernel/money.js'
import { solMint } from '../../src/kernel/tokens.js'
import { callApi, callAsOwner, type Json } from './api.js'
import { type Stage, tipOnStreams } from './stage.js'

/** SOL the supporter gives. */
const amount = 0.1
const lamports = 100_000_000
const usdcDecimals = 6
const patienceMs = 10_000
const message = 'changed on its way'

/** A tip in SOL to a creator who wants USDC: the supporter signs one transaction, a swap engine's, and USDC arrives. */
export async function tipThroughSwap(stage: Stage): Promise<void> {
  const { web, creator, supporter, say } = stage
  const wish = { settings: { autoConvertUsdc: true } }
  await callAsOwner(web, 'PATCH', '/creators/me', creator.cookie, wish)
  say('the creator now takes USDC, whatever is given')

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
  const events = await tipOnStreams(stage, message, patienceMs)
  for (const { data } of events) {
    assert.equal(data['tokenSymbol'], 'USDC')
    assert.equal(data['sender'], supporter.wallet)
    assert(Number(data['amount']) >= promised, 'no less arrived than was promised')
  }
  say(`${events[0]?.data['amount']} USDC arrived and are on both streams`)
}
