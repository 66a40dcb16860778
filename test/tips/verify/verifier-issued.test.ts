import test, { type ExecutionContext } from 'ava'
import { solMint } from '../../../src/kernel/tokens.js'
import { createVerifierBatch } from '../../../src/tips/verify-tips.js'
import { registerCreator } from '../../helpers/make/creators.js'
import { memo, solTransfer } from '../../helpers/make/instructions.js'
import {
  createIntent,
  createPaidIntents,
  makeTipsDue,
  type PaidIntent,
  type PaymentOptions,
} from '../../helpers/make/intents.js'
import { listUnconfirmed } from '../../helpers/make/landed-tips.js'
import { createSupporter, unusedWallet } from '../../helpers/make/supporter.js'
import { listTips, readTipRow, recordTip, runBatchUntil } from '../../helpers/make/tips.js'
import { as } from '../../helpers/servers/roles.js'
import { useWorld } from '../../helpers/servers/world.js'

const world = useWorld(test, { chain: true, slotMs: 400 })
const batch = () => createVerifierBatch(as('verifier', world().services))()

/** Records tips, verifies and finalizes them. Returns the number of calls by method. */
async function costOf(t: ExecutionContext, paid: readonly PaidIntent[]): Promise<Record<string, number>> {
  const { calls, chain } = world().sandbox
  const signatures = paid.map(({ signature }) => signature)
  for (let start = 0; start < paid.length; start += 50)
    await Promise.all(paid.slice(start, start + 50).map(({ claim }) => recordTip(world(), claim)))
  calls.reset()
  const confirmed = async () => (await listUnconfirmed(world(), signatures)).length === 0
  await runBatchUntil(batch, 'all are confirmed', confirmed)
  chain.advance(40)
  await makeTipsDue(world())
  const open = () => world().db('tips').whereIn('id', signatures).whereNull('finalized_at')
  await runBatchUntil(batch, 'all are final', async () => (await open()).length === 0)
  t.log(calls.all(), `${calls.httpRequests} HTTP requests`)
  return calls.all()
}

function sum(calls: Record<string, number>): number {
  return Object.values(calls).reduce((total, count) => total + count, 0)
}

const memos: PaymentOptions = { change: (issued) => [memo('guard'), ...issued] }
for (const [what, count, most, options] of [
  ['400 unaltered direct tips cost at most 0.05 RPC calls each', 400, 0.05, {}],
  ['100 tips that a wallet has altered cost at most 1.05 RPC calls each', 100, 1.05, memos],
] as const)
  test.serial(`${what}, from the record to finality`, async (t) => {
    t.timeout(180_000)
    const supporter = createSupporter(world().sandbox, ['USDC'])
    const creators = [await registerCreator(world()), await registerCreator(world())]
    const recipients = Array.from({ length: count }, (_, index) => creators[index % 2]?.wallet ?? '')
    const calls = await costOf(t, await createPaidIntents(world(), supporter, recipients, options))
    t.true(sum(calls) <= most * count, `${sum(calls)} calls`)
    t.is(calls['getTransaction'] ?? 0, 'change' in options ? count : 0)
  })

test.serial('facts proven by the intent equal the facts of the transaction', async (t) => {
  for (const symbol of ['SOL', 'USDC', 'USDT']) {
    const supporter = createSupporter(world().sandbox, symbol === 'SOL' ? [] : [symbol])
    const recipient = unusedWallet()
    const [own, altered] = [
      ...(await createPaidIntents(world(), supporter, [recipient], { symbol })),
      ...(await createPaidIntents(world(), supporter, [recipient], { symbol, ...memos })),
    ] as [PaidIntent, PaidIntent]
    const calls = await costOf(t, [own, altered])
    t.is(calls['getTransaction'], 1)
    const [proven, read] = [
      await readTipRow(world(), own.signature),
      await readTipRow(world(), altered.signature),
    ]
    for (const field of [
      'received_raw',
      'display_raw',
      'mint',
      'decimals',
      'recipient_party',
      'sender_party',
      'fee_found',
    ])
      t.deepEqual(proven[field], read[field], field)
    t.is(proven.intent_id, own.intent.intentId)
    t.is(proven.slot, BigInt(world().sandbox.chain.ledger.get(own.signature)?.slot ?? 0))
    t.is(proven.block_time, null)
    const [one, other] = await listTips(world(), recipient)
    t.is(one?.amount, other?.amount)
  }
})

test.serial('a transfer to the own wallet or the treasury is decided by balance changes', async (t) => {
  const supporter = createSupporter(world().sandbox, ['USDC'])
  const treasury = world().env['TREASURY_WALLET'] ?? ''
  const [own, toTreasury] = (await createPaidIntents(world(), supporter, [supporter.wallet, treasury])) as [
    PaidIntent,
    PaidIntent,
  ]
  for (const { claim } of [own, toTreasury]) await recordTip(world(), claim)
  const isDone = async () => (await readTipRow(world(), own.signature)).outcome === 'mismatch'
  await runBatchUntil(batch, 'the tip to oneself is refused', isDone)
  await runBatchUntil(
    batch,
    'the other is confirmed',
    async () => (await listUnconfirmed(world(), [toTreasury.signature])).length === 0,
  )
  t.is((await readTipRow(world(), own.signature)).status, 'pending')
  t.like(await readTipRow(world(), toTreasury.signature), { fee_found: false, received_raw: '2000001' })
})

test.serial('an unchanged transaction that landed and failed is not a tip', async (t) => {
  const poor = createSupporter(world().sandbox)
  const creatorId = unusedWallet()
  const fields = { creatorId, amount: 5, inputTokenMint: solMint, sourceWalletAddress: poor.wallet }
  const { transaction } = await createIntent(world().request, fields)
  poor.send([solTransfer(poor.wallet, unusedWallet(), 99_000_000_000n)])
  const txSignature = poor.pay(transaction, undefined, { skipPreflight: true })
  const claim = { creatorWallet: creatorId, senderWallet: poor.wallet, tipAmount: 5_000_000_000, txSignature }
  await recordTip(world(), claim)
  world().sandbox.chain.advance(40)
  const isChecked = async () => (await readTipRow(world(), txSignature)).outcome !== null
  await runBatchUntil(batch, 'it is checked', isChecked)
  t.like(await readTipRow(world(), txSignature), { status: 'pending', outcome: 'tx_failed' })
})
