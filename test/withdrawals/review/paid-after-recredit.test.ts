import test, { type ExecutionContext } from 'ava'
import { countAlerts } from '../../helpers/alerts-and-mails.js'
import {
  countExecutions,
  createExecuted,
  followOutcome,
  listHistory,
  moveReviews,
  readBalance,
  readWithdrawalRow,
  reconcileAll,
} from '../../helpers/make/withdrawals.js'
import { runOpsScript, type ScriptRun } from '../../helpers/run-ops-script.js'
import { useWorld } from '../../helpers/servers/world.js'
import { listBrokenInvariants } from '../../ledger/support.js'

const world = useWorld(test, { fiat: true, env: { WITHDRAW_WAIT_MS: '0', PAYOUT_SECONDS: '15,0.05,900' } })
test.beforeEach('the test has time for scripts', (t) => t.timeout(90_000))
test.afterEach.always('the ledger is consistent', async (t) => {
  t.deepEqual(await listBrokenInvariants(world().db), [])
})

const payouts = (...args: string[]): Promise<ScriptRun> => runOpsScript(world(), 'payouts', ...args)
const confirmed = (reference: string) => ['--apply', `--confirm=${reference}`, '--reason', 'ticket 9']
const recredit = (reference: string, ...more: string[]) =>
  payouts('recredit', reference, ...confirmed(reference), ...more)
const close = (reference: string) => payouts('close', reference, ...confirmed(reference))

const countAlarms = (kind: string) => countAlerts(world(), kind)

/** The withdrawal's differences from the provider's list. */
async function compare(reference: string): Promise<{ kind: string; ours: string; theirs: string }[]> {
  const { differences } = JSON.parse((await payouts('compare', '--json')).out)
  return differences.filter(
    ({ providerReference }: { providerReference: string }) => providerReference === reference.toLowerCase(),
  )
}

/** All reviews of a withdrawal, oldest first, an open one with a `+`. */
async function listReviews(reference: string): Promise<string[]> {
  const { db } = world()
  const { id } = await readWithdrawalRow(world(), reference)
  const rows = await db('review_items').where({ withdrawal_id: id }).orderBy('id')
  return rows.map(({ kind, resolved_at }) => `${resolved_at === null ? '+' : ''}${kind}`)
}

/** A completed withdrawal of 20 USDC that the provider has reversed, or says has failed. */
async function createUnpaid(outcome: 'reversed' | 'failed' = 'reversed') {
  const { ada, reference } = await createExecuted(world(), 20)
  await followOutcome(world(), reference, 'success')
  await followOutcome(world(), reference, outcome)
  return { ada, reference }
}

async function assertDone(t: ExecutionContext, running: Promise<ScriptRun>): Promise<void> {
  const run = await running
  t.is(run.code, 0, run.err)
}

test.serial('success after a re-credit is a review, an alarm and a difference', async (t) => {
  const { ada, reference } = await createUnpaid()
  await moveReviews(world(), reference, 25)
  await assertDone(t, recredit(reference))
  t.deepEqual(await readBalance(world(), ada), { availableUSDC: 20, heldUSDC: 0 })
  t.deepEqual(await compare(reference), [])

  const alarms = await countAlarms('payout_paid_after_recredit')
  // No webhook: the provider is polled.
  world().fiat.fiatpay.webhooks.setUrl('http://127.0.0.1:1/')
  const transfer = world().fiat.fiatpay.transfers.find(reference)
  if (transfer !== undefined) world().fiat.fiatpay.setOutcome(transfer, 'success')
  t.not((await readWithdrawalRow(world(), reference)).due_at, null)
  await reconcileAll(world())
  await reconcileAll(world())
  world().fiat.fiatpay.webhooks.setUrl(`${world().url}/webhooks/fiatpay`)
  t.is((await countAlarms('payout_paid_after_recredit')) - alarms, 1)
  t.deepEqual(await listReviews(reference), ['reversed', '+paid_after_recredit'])
  t.deepEqual(await readBalance(world(), ada), { availableUSDC: 20, heldUSDC: 0 }, 'nothing moves by itself')
  t.like((await compare(reference))[0], { kind: 'status', ours: 'completed, then credited again' })

  // The provider's list reaches back two days only.
  const listed = world().fiat.fiatpay.transfers.find(reference)
  if (listed === undefined) return t.fail('the provider has no such transfer')
  world().fiat.fiatpay.transfers.write({ ...listed, executedAt: '2020-01-01T00:00:00.000Z' })
  t.like(await compare(reference), [{ kind: 'status', theirs: 'paid' }])
  t.is((await recredit(reference, '--now')).code, 1)
  const closing = await payouts('close', reference)
  t.regex(
    closing.out,
    /shows it paid \(NGN 31,680\.00\)\. The creator keeps both the NGN 31,680\.00 and the 20 USDC/,
  )
  await assertDone(t, close(reference))
  t.deepEqual(await compare(reference), [])
  await reconcileAll(world())
  t.deepEqual(await listReviews(reference), ['reversed', 'paid_after_recredit'], 'handled once')
  t.is(countExecutions(world(), reference), 1)
})

test.serial('recredit waits 24 hours after the first sight of the reversal, unless --now', async (t) => {
  const { ada, reference } = await createUnpaid()
  await moveReviews(world(), reference, 23)
  const early = await recredit(reference)
  t.is(early.code, 1)
  t.regex(early.err, /reversed was first seen at \S+Z\. Wait until \S+Z, or add --now beside --reason/)
  t.is(
    (await payouts('recredit', reference, '--apply', `--confirm=${reference}`, '--now')).code,
    2,
    'no reason',
  )
  t.is((await payouts('close', reference, '--now')).code, 2)
  await assertDone(t, recredit(reference, '--now'))
  t.deepEqual(await readBalance(world(), ada), { availableUSDC: 20, heldUSDC: 0 })
  const [entry] = await world()
    .db('audit_log')
    .where({ subject: `payout:${reference}` })
  t.like(entry.details, { now: true, before: { provider: 'returned' } })
})

test.serial('failed after completed is a review of its own kind, and may be credited again', async (t) => {
  const alarms = await countAlarms('payout_failed_after_completed')
  const { ada, reference } = await createUnpaid('failed')
  t.deepEqual(await listReviews(reference), ['+failed_after_completed'])
  t.is((await countAlarms('payout_failed_after_completed')) - alarms, 1)
  await assertDone(t, recredit(reference, '--now'))
  t.deepEqual(await readBalance(world(), ada), { availableUSDC: 20, heldUSDC: 0 })
  t.is((await listHistory(world(), ada))[0]?.status, 'completed')
  t.deepEqual(await listReviews(reference), ['failed_after_completed'])
})

test.serial('success, reversal, success and so on: each turn of the provider is handled once', async (t) => {
  const { ada, reference } = await createUnpaid()
  const seen = async (outcome: 'success' | 'reversed' | 'failed') => {
    await followOutcome(world(), reference, outcome)
    await reconcileAll(world())
    return (await listReviews(reference)).join(' ')
  }
  t.is(await seen('success'), 'reversed', 'paid again: nobody has lost anything')
  t.is((await recredit(reference, '--now')).code, 1)
  t.is(await seen('reversed'), 'reversed +reversed')
  await assertDone(t, close(reference))
  t.is(await seen('reversed'), 'reversed reversed', 'what a person has closed stays closed')
  t.is(await seen('success'), 'reversed reversed')
  t.is(await seen('reversed'), 'reversed reversed +reversed', 'until it happens again')
  await assertDone(t, recredit(reference, '--now'))
  t.is(await seen('success'), 'reversed reversed reversed +paid_after_recredit')
  t.is(await seen('reversed'), 'reversed reversed reversed +paid_after_recredit', 'a person closes it')
  await assertDone(t, close(reference))
  t.is(await seen('success'), 'reversed reversed reversed paid_after_recredit +paid_after_recredit')
  t.deepEqual(await readBalance(world(), ada), { availableUSDC: 20, heldUSDC: 0 }, 'credited again once')
})

test.serial('after a re-credit the provider is polled with growing pauses for 90 days', async (t) => {
  const { reference } = await createUnpaid()
  await assertDone(t, recredit(reference, '--now'))
  const { db } = world()
  const pauseAfter = async (looks: number): Promise<number> => {
    await db('withdrawals').where({ reference }).update({ looks })
    await reconcileAll(world())
    const { due_at } = await readWithdrawalRow(world(), reference)
    return due_at === null ? Number.POSITIVE_INFINITY : (due_at.getTime() - Date.now()) / 1000
  }
  const hour = await pauseAfter(16)
  t.true(hour > 3000 && hour < 3600, `${hour}`)
  const longest = await pauseAfter(1000)
  t.true(longest > 52_000 && longest <= 86_400, `${longest}`)
  await db('withdrawals')
    .where({ reference })
    .update({ recredited_at: db.raw(`clock_timestamp() - interval '91 days'`) })
  t.is(await pauseAfter(3), Number.POSITIVE_INFINITY)
})
