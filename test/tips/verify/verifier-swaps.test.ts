import { randomBytes } from 'node:crypto'
import type { TransactionInstruction } from '@solana/web3.js'
import test from 'ava'
import { newIntentId } from '../../../src/kernel/ids.js'
import { displayNumber } from '../../../src/kernel/money.js'
import { type Token, tokenBySymbol } from '../../../src/kernel/tokens.js'
import { createFinderBatch } from '../../../src/tips/record/find-unreported.js'
import { createVerifierBatch } from '../../../src/tips/verify-tips.js'
import { memo } from '../../helpers/make/instructions.js'
import { makeTipsDue, untilConfirmedOnChain } from '../../helpers/make/intents.js'
import { listUnconfirmed } from '../../helpers/make/landed-tips.js'
import { createSession, type Embedder, registerEmbedder, sdkTipBody } from '../../helpers/make/sdk.js'
import { createSupporter, type Supporter, unusedWallet } from '../../helpers/make/supporter.js'
import { listTips, readTipRow, recordTip, runBatchUntil } from '../../helpers/make/tips.js'
import { as } from '../../helpers/servers/roles.js'
import { setRows, useWorld } from '../../helpers/servers/world.js'

// Swapped tips from an SDK session to the ledger, with transactions that the swap engines really built.

const world = useWorld(test, { chain: true })
const verify = () => createVerifierBatch(as('verifier', world().services))()
const token = (symbol: string): Token => tokenBySymbol(symbol) as Token
const engines = ['aggregator-ultra', 'aggregator-v6'] as const
type Engine = (typeof engines)[number]

interface IntentBody {
  readonly intentId: string
  readonly provider: string
  readonly status: string
  readonly transaction: string
  readonly quote: { readonly outAmount: string; readonly priceImpactPct: number }
}

interface Swap {
  readonly engine: Engine
  readonly given: string
  readonly change?: (instructions: TransactionInstruction[]) => TransactionInstruction[]
}

interface Paid {
  readonly embedder: Embedder
  readonly supporter: Supporter
  readonly sessionToken: string
  readonly intent: IntentBody
  readonly signature: string
}

test.afterEach.always(() => world().sandbox.aggregator.reset())

async function read({ sessionToken, intent }: Pick<Paid, 'sessionToken' | 'intent'>) {
  const path = `/sdk/intents/${intent.intentId}`
  return (await world().request<IntentBody>('GET', path, { bearer: sessionToken })).body
}

/** Tips five dollars of a token through the SDK to a creator who receives USDC. */
async function pay({ engine, given, change }: Swap): Promise<Paid> {
  const { sandbox, request } = world()
  sandbox.aggregator.set({ ultra: { mode: engine === 'aggregator-v6' ? 'down' : 'ok' } })
  const embedder = await registerEmbedder(world(), { autoConvertUsdc: true })
  const { sessionToken } = await createSession(world(), embedder)
  const supporter = createSupporter(sandbox, ['BONK'])
  const wanted = { sourceWalletAddress: supporter.wallet, inputTokenMint: token(given).mint }
  const { body: intent } = await request<IntentBody>('POST', '/sdk/tip', {
    bearer: sessionToken,
    body: sdkTipBody(embedder, wanted),
  })
  return { embedder, supporter, sessionToken, intent, signature: supporter.pay(intent.transaction, change) }
}

function claimOf({ embedder, supporter, signature }: Paid, given: string): Record<string, unknown> {
  return {
    creatorWallet: embedder.wallet,
    senderWallet: supporter.wallet,
    // About five dollars.
    tipAmount: given === 'SOL' ? 33_333_333 : 25_000_000_000,
    tokenSymbol: given,
    txSignature: signature,
    message: 'changed on its way',
  }
}

async function confirmed({ signature }: Paid): Promise<void> {
  await runBatchUntil(
    verify,
    'the tip is confirmed',
    async () => (await listUnconfirmed(world(), [signature])).length === 0,
  )
}

for (const engine of engines)
  for (const given of ['SOL', 'BONK'])
    test.serial(`${given} through ${engine} is a tip of the USDC that arrived, in the ledger`, async (t) => {
      const paid = await pay({ engine, given })
      const { embedder, supporter, intent, signature } = paid
      t.is(intent.provider, engine)
      t.true(intent.quote.priceImpactPct > 0)
      const { transaction, quote } = intent
      t.like(await read(paid), { transaction, quote, provider: engine, status: 'requires_action' })
      await recordTip(world(), claimOf(paid, given))
      await confirmed(paid)
      t.like(await read(paid), { status: 'confirmed', provider: engine })
      const [listed] = await listTips(world(), embedder.wallet)
      const amount = displayNumber(BigInt(intent.quote.outAmount), 6)
      t.like(listed, {
        signature,
        amount,
        receivedAmount: amount,
        tokenSymbol: 'USDC',
        sender: supporter.wallet,
        message: 'changed on its way',
        status: 'confirmed',
        isStable: true,
      })
      world().sandbox.chain.advance(40)
      await makeTipsDue(world())
      const isFinal = async () => (await readTipRow(world(), signature)).finalized_at !== null
      await runBatchUntil(verify, 'it is final', isFinal)
      const { body } = await world().request<{ balance: object }>('GET', '/creators/balance', {
        session: embedder.session,
      })
      t.like(body.balance, { availableUSDC: amount, pendingUSDC: 0 })
    })

for (const engine of engines)
  test.serial(`a swap through ${engine} that a wallet altered is confirmed`, async (t) => {
    const paid = await pay({ engine, given: 'SOL', change: (issued) => [memo('guard'), ...issued] })
    await recordTip(world(), claimOf(paid, 'SOL'))
    await confirmed(paid)
    const { embedder, signature, intent } = paid
    const tip = await readTipRow(world(), signature)
    t.like(tip, {
      intent_id: intent.intentId,
      creator_wallet: embedder.wallet,
      received_raw: intent.quote.outAmount,
    })
    t.like((await listTips(world(), embedder.wallet))[0], {
      tokenSymbol: 'USDC',
      message: 'changed on its way',
    })
  })

test.serial('an altered swap matches no intent of others, of another amount or of long ago', async (t) => {
  const { db, sandbox } = world()
  for (const change of [
    { source_wallet: unusedWallet() },
    { input_raw: 40_000_000 },
    { input_raw: 22_000_000 },
    { created_at: new Date(Date.now() - 11 * 60_000) },
    // The chain may be minutes ahead of the wall clock, as tests advance it.
    { created_at: new Date(Date.now() + 3_600_000) },
  ]) {
    const paid = await pay({
      engine: 'aggregator-ultra',
      given: 'SOL',
      change: (issued) => [memo('guard'), ...issued],
    })
    await db('payment_intents').where({ id: paid.intent.intentId }).update(change)
    await recordTip(world(), claimOf(paid, 'SOL'))
    sandbox.chain.advance(2)
    const isChecked = async () => (await readTipRow(world(), paid.signature)).outcome !== null
    await runBatchUntil(verify, 'an outcome', isChecked)
    t.like(
      await readTipRow(world(), paid.signature),
      { status: 'pending', outcome: 'mismatch' },
      JSON.stringify(change),
    )
  }
})

test.serial(
  'of two intents that an altered swap looks like, it pays the one that its report names',
  async (t) => {
    const { db } = world()
    const paid = await pay({
      engine: 'aggregator-ultra',
      given: 'SOL',
      change: (issued) => [memo('guard'), ...issued],
    })
    const row = await db('payment_intents').where({ id: paid.intent.intentId }).first()
    const later = { ...row, id: newIntentId(), message_hash: randomBytes(32) }
    await db('payment_intents').insert({ ...later, created_at: new Date(row.created_at.getTime() + 1) })
    await recordTip(world(), { ...claimOf(paid, 'SOL'), intentId: paid.intent.intentId })
    await confirmed(paid)
    t.like(await readTipRow(world(), paid.signature), { intent_id: paid.intent.intentId })
    t.like(await read(paid), { status: 'confirmed' })
  },
)

test.serial('a swap that brings less than the quoted slippage allows is an underpaid intent', async (t) => {
  for (const [least, status] of [
    [0n, 'confirmed'],
    [1n, 'failed'],
  ] as const) {
    const paid = await pay({ engine: 'aggregator-v6', given: 'SOL' })
    const { outAmount } = paid.intent.quote
    const intents = world().db('payment_intents').where({ id: paid.intent.intentId })
    const stored = BigInt((await intents.clone().first()).least_raw)
    t.true(stored < BigInt(outAmount) && stored >= (BigInt(outAmount) * 99n) / 100n, 'less the slippage')
    await intents.clone().update({ least_raw: String(BigInt(outAmount) + least) })
    await recordTip(world(), claimOf(paid, 'SOL'))
    await confirmed(paid)
    const receivedAmount = Number(outAmount) / 1e6
    const outcome = status === 'failed' ? 'underpaid' : null
    t.like(await read(paid), { status, outcome, receivedAmount })
    t.like((await listTips(world(), paid.embedder.wallet))[0], {
      amount: receivedAmount,
      tokenSymbol: 'USDC',
    })
  }
})

test.serial('an unreported swap becomes a tip when it contains a reference key', async (t) => {
  const paid = await pay({ engine: 'aggregator-v6', given: 'BONK' })
  await untilConfirmedOnChain(world(), [paid.signature])
  await setRows(world(), 'payment_intents', { id: paid.intent.intentId }, { due_at: new Date(0) })
  await createFinderBatch(as('finder', world().services))()
  await confirmed(paid)
  t.like(await readTipRow(world(), paid.signature), { intent_id: paid.intent.intentId, status: 'confirmed' })
})
