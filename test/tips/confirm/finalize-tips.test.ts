import test from 'ava'
import { checkBooks } from '../../../src/ledger/invariants.js'
import { createVerifierBatch } from '../../../src/tips/verify-tips.js'
import { countAlerts } from '../../helpers/alerts-and-mails.js'
import { countObserved } from '../../helpers/count-observed.js'
import { differingSums } from '../../helpers/make/confirmed-tips.js'
import { registerCreator, type TestCreator } from '../../helpers/make/creators.js'
import { createPaidIntents, makeTipsDue, type PaidIntent } from '../../helpers/make/intents.js'
import { listUnconfirmed } from '../../helpers/make/landed-tips.js'
import { createSupporter, unusedWallet } from '../../helpers/make/supporter.js'
import { listTips, readTipRow, recordTip, runBatchUntil } from '../../helpers/make/tips.js'
import { as } from '../../helpers/servers/roles.js'
import { useWorld } from '../../helpers/servers/world.js'
import { until } from '../../helpers/until.js'

const world = useWorld(test, { chain: true, slotMs: 400, proxies: true })
const batch = () => createVerifierBatch(as('verifier', world().services))()

test.afterEach.always(async () => {
  Object.assign(world().proxies.outside, { alterReply: undefined, intervene: undefined })
  world().sandbox.chain.releaseControls()
  // Some tests invent later slots. A node behind the newest known slot is not used, so the chain advances beyond them.
  const { sandbox, services } = world()
  sandbox.chain.advance(400)
  await until('the service uses a recent blockhash', async () => {
    const { blockhash } = await services.chain.latestBlockhash()
    return sandbox.chain.clock.slotOfRecentHash(blockhash) !== undefined
  })
  await world().db('tips').update({ due_at: null })
})

/** A confirmed tip of 2 dollars that is not final. */
async function confirmedTip(symbol = 'USDC', recipient = unusedWallet()): Promise<PaidIntent> {
  const supporter = createSupporter(world().sandbox, symbol === 'SOL' ? [] : [symbol])
  const [paid] = (await createPaidIntents(world(), supporter, [recipient], { symbol })) as [PaidIntent]
  await recordTip(world(), paid.claim)
  const isConfirmed = async () => (await listUnconfirmed(world(), [paid.signature])).length === 0
  await runBatchUntil(batch, 'it is confirmed', isConfirmed)
  return paid
}

async function balanceOf({ session }: TestCreator): Promise<Record<string, number>> {
  const answer = await world().request<{ balance: Record<string, number> }>('GET', '/creators/balance', {
    session,
  })
  return answer.body.balance
}

async function transfersOf(signature: string): Promise<{ idem: string; kind: string }[]> {
  return world()
    .db('ledger_transfers')
    .where('idem', 'like', `tip:${signature}%`)
    .orderBy('id')
    .select('idem', 'kind')
}

/** Replaces the chain's answers about the status of this signature. */
function statusBecomes(signature: string, status: unknown, slotsLater = 0): void {
  world().proxies.outside.alterReply = (method, [signatures], reply) => {
    if (method !== 'getSignatureStatuses' || !Array.isArray(signatures)) return reply
    const { context, value } = reply.result as { context: { slot: number }; value: unknown[] }
    const changed = value.map((one, index) => (signatures[index] === signature ? status : one))
    return { id: reply.id, result: { context: { slot: context.slot + slotsLater }, value: changed } }
  }
}

async function runCheck(): Promise<void> {
  await makeTipsDue(world())
  await batch().catch(() => undefined)
}

test.serial(
  'the credit of a tip is pending after confirmation and available after finalization',
  async (t) => {
    const creator = await registerCreator(world())
    const seen = await countObserved(world().services.metrics.tipVisibleSeconds)
    const { signature } = await confirmedTip('USDC', creator.wallet)
    t.is(await countObserved(world().services.metrics.tipVisibleSeconds), seen + 1)
    t.deepEqual(await balanceOf(creator), { availableUSDC: 0, pendingUSDC: 1.96, heldUSDC: 0 })
    await runCheck()
    t.deepEqual(
      await balanceOf(creator),
      { availableUSDC: 0, pendingUSDC: 1.96, heldUSDC: 0 },
      'not final yet',
    )
    world().sandbox.chain.advance(40)
    await runCheck()
    t.deepEqual(await balanceOf(creator), { availableUSDC: 1.96, pendingUSDC: 0, heldUSDC: 0 })
    t.deepEqual(await transfersOf(signature), [
      { idem: `tip:${signature}`, kind: 'reserve' },
      { idem: `tip:${signature}:resolve`, kind: 'post' },
    ])
    const stored = await readTipRow(world(), signature)
    t.truthy(stored.finalized_at)
    t.is(stored.due_at, null)
    t.true((await checkBooks(world().db)).holds)
  },
)

test.serial('only USDC that arrived in a custody wallet is credited', async (t) => {
  const creator = await registerCreator(world())
  for (const symbol of ['SOL', 'USDT']) {
    const { signature } = await confirmedTip(symbol, creator.wallet)
    t.deepEqual(await transfersOf(signature), [], symbol)
  }
  t.deepEqual(await transfersOf((await confirmedTip('USDC')).signature), [], 'a stranger’s wallet')
  world().sandbox.chain.advance(40)
  await runCheck()
  t.deepEqual(await balanceOf(creator), { availableUSDC: 0, pendingUSDC: 0, heldUSDC: 0 })
})

test.serial('a vanished tip fails, its credit is voided, and an alert is raised', async (t) => {
  const creator = await registerCreator(world())
  const { signature } = await confirmedTip('USDC', creator.wallet)
  const alerts = () => countAlerts(world(), 'tip_vanished')
  const before = await alerts()

  const today = async () => {
    const { body } = await world().request<{ days: unknown[] }>('GET', '/creators/tips/daily?days=2', creator)
    return body.days.filter((day) => (day as { count: number }).count > 0)
  }
  t.like(await today(), [{ count: 1, valueUsd: 2 }])
  t.deepEqual(await differingSums(world().db), [])

  statusBecomes(signature, null)
  await runCheck()
  t.like(await readTipRow(world(), signature), { status: 'confirmed' }, 'one check does not fail it')
  await world()
    .db('tips')
    .where({ id: signature })
    .update({ missing_since: new Date(Date.now() - 61_000) })
  await runCheck()
  t.like(
    await readTipRow(world(), signature),
    { status: 'confirmed' },
    'while the transaction could land again, the tip does not fail',
  )

  statusBecomes(signature, null, 300)
  await runCheck()
  t.like(await readTipRow(world(), signature), { status: 'failed', due_at: null })
  t.deepEqual(await balanceOf(creator), { availableUSDC: 0, pendingUSDC: 0, heldUSDC: 0 })
  t.deepEqual(await transfersOf(signature), [
    { idem: `tip:${signature}`, kind: 'reserve' },
    { idem: `tip:${signature}:resolve`, kind: 'void' },
  ])
  t.is(await alerts(), before + 1)
  t.deepEqual(await today(), [], 'the daily figures no longer contain it')
  t.deepEqual(await differingSums(world().db), [])
  t.deepEqual(
    (await listTips(world(), creator.wallet)).filter((tip) => tip.signature === signature),
    [],
  )

  statusBecomes(signature, { slot: 1, err: null, confirmationStatus: 'finalized' })
  await world()
    .db('tips')
    .where({ id: signature })
    .update({ due_at: new Date(0) })
  await runCheck()
  t.is((await transfersOf(signature)).length, 2, 'a failed tip stays failed')
  t.true((await checkBooks(world().db)).holds)
})

test.serial('a tip whose transaction is missing for a while and found again becomes final', async (t) => {
  const creator = await registerCreator(world())
  const { signature } = await confirmedTip('USDC', creator.wallet)
  statusBecomes(signature, null, 300)
  await runCheck()
  t.truthy((await readTipRow(world(), signature)).missing_since)
  world().proxies.outside.alterReply = undefined
  world().proxies.outside.intervene = () => 'close'
  await runCheck()
  t.truthy((await readTipRow(world(), signature)).missing_since, 'no answer changes nothing')
  world().proxies.outside.intervene = undefined
  // The node's slot was invented above. A node behind it is not used until it has caught up.
  world().sandbox.chain.advance(300)
  await runCheck()
  t.like(await readTipRow(world(), signature), { status: 'confirmed', missing_since: null })
  t.is((await balanceOf(creator))['availableUSDC'], 1.96)
})

test.serial(
  'a tip finalized in another slot is final if it paid the same amount, and fails otherwise',
  async (t) => {
    const creator = await registerCreator(world())
    for (const same of [true, false]) {
      const { signature } = await confirmedTip('USDC', creator.wallet)
      const slot = world().sandbox.chain.clock.slot + 2
      statusBecomes(signature, {
        slot,
        err: same ? null : { InstructionError: [0, 'Custom'] },
        confirmationStatus: 'finalized',
      })
      await runCheck()
      t.is((await readTipRow(world(), signature)).status, same ? 'confirmed' : 'failed')
      if (same) t.is((await readTipRow(world(), signature)).slot, BigInt(slot))
      t.is((await transfersOf(signature)).at(-1)?.kind, same ? 'post' : 'void')
    }
    t.deepEqual(await balanceOf(creator), { availableUSDC: 1.96, pendingUSDC: 0, heldUSDC: 0 })
  },
)

test.serial('a claim that arrives while its tip is finalized is not lost', async (t) => {
  const creator = await registerCreator(world())
  const { signature, claim } = await confirmedTip('USDC', creator.wallet)
  world().sandbox.chain.advance(40)
  let late: Promise<unknown> | undefined
  world().proxies.outside.alterReply = (_method, _params, reply) => {
    late ??= recordTip(world(), { ...claim, message: 'late' })
    return reply
  }
  await runCheck()
  await late
  await runBatchUntil(
    batch,
    'the message is there',
    async () => (await readTipRow(world(), signature)).message === 'late',
  )
  await runCheck()
  t.is((await balanceOf(creator))['availableUSDC'], 1.96)
})

test.serial('tips confirmed and finalized by four concurrent batches are credited once each', async (t) => {
  const creators = [await registerCreator(world()), await registerCreator(world())]
  const supporter = createSupporter(world().sandbox, ['USDC'])
  const recipients = Array.from({ length: 120 }, (_, index) => creators[index % 2]?.wallet ?? '')
  const paid = await createPaidIntents(world(), supporter, recipients)
  await Promise.all(paid.map(({ claim }) => recordTip(world(), claim)))
  const signatures = paid.map(({ signature }) => signature)
  const batches = Array.from({ length: 4 }, () => createVerifierBatch(as('verifier', world().services)))
  const all = () => Promise.all(batches.map((one) => one())).then(() => ({ taken: 0 }))
  await runBatchUntil(
    all,
    'all are confirmed',
    async () => (await listUnconfirmed(world(), signatures)).length === 0,
  )
  world().sandbox.chain.advance(40)
  await makeTipsDue(world())
  const open = () => world().db('tips').whereIn('id', signatures).whereNull('finalized_at')
  await runBatchUntil(all, 'all are final', async () => (await open()).length === 0)
  const received = paid.map(({ intent }) => Number(intent.quote.outAmount))
  for (const [index, creator] of creators.entries()) {
    const sum = received.filter((_, place) => place % 2 === index).reduce((a, b) => a + b, 0)
    t.is((await balanceOf(creator))['availableUSDC'], sum / 1e6)
  }
  t.true((await checkBooks(world().db)).holds)
})
