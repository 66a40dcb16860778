import test, { type ExecutionContext } from 'ava'
import {
  askWithdrawal,
  balanceOf,
  creatorWith,
  executions,
  historyOf,
  reconcileNow,
  rowOf,
  sendNow,
  withdrawal,
} from '../helpers/make/payouts.js'
import type { Person } from '../helpers/make/people.js'
import { runScript, type ScriptRun } from '../helpers/ops.js'
import { createWorkerLoops } from '../helpers/servers/worker-loops.js'
import { useWorld } from '../helpers/servers/world.js'
import { until } from '../helpers/until.js'
import { brokenNow } from '../ledger/support.js'

const world = useWorld(test, {
  fiat: true,
  env: {
    WITHDRAW_WAIT_MS: '0',
    PAYOUT_TIMEOUT_MS: '500',
    PAYOUT_LOOK_SECONDS: '0.05',
    PAYOUT_SETTLE_SECONDS: '0.5',
    IDENTITY_SINGLE_NGN: '200000',
  },
})
test.beforeEach('the provider behaves, and scripts may take their time', (t) => {
  t.timeout(90_000)
  world().fiat.fiatpay.behaviour.reset()
})
test.afterEach.always('the books hold', async (t) => {
  t.deepEqual(await brokenNow(world().db), [])
})

const payouts = (...args: string[]): Promise<ScriptRun> => runScript(world(), 'payouts', ...args)
const surely = (reference: string) => [
  '--apply',
  `--confirm=${reference}`,
  '--reason',
  'test',
  '--as',
  'ngozi',
]
const auditOf = (reference: string) =>
  world()
    .db('audit_log')
    .where({ subject: `payout:${reference}` })
    .orderBy('id')
const sendings = (reference: string) => world().fiat.fiatpay.sendings.all()[reference.toLowerCase()] ?? 0

/** A withdrawal whose one request nobody answered, and which the provider never took. */
async function unanswered(): Promise<{ ada: Person; reference: string }> {
  const ada = await creatorWith(world(), 20)
  world().fiat.fiatpay.behaviour.setMode({ transfers: 'timeout' })
  const { reference } = await withdrawal(world(), ada, { amountUSDC: 20 })
  await sendNow(world())
  world().fiat.fiatpay.behaviour.reset()
  return { ada, reference }
}

/** As if its last request had begun so many seconds ago; a negative number keeps it young for the whole test. */
async function sentAgo(reference: string, seconds: number): Promise<void> {
  const at = new Date(Date.now() - seconds * 1000)
  await world().db('withdrawals').where({ reference }).update({ sent_at: at })
}

/** The same, after every automatic sending: only a person can decide. */
async function inReview(): Promise<{ ada: Person; reference: string }> {
  const given = await unanswered()
  const { reference } = given
  await world().db('withdrawals').where({ reference }).update({ sends: 3 })
  await sentAgo(reference, 3600)
  await reconcileNow(world())
  return given
}

test.serial('list and show tell what waits for a person, and never a whole account number', async (t) => {
  const { reference } = await inReview()
  const list = await payouts('list', '--state', 'manual_review')
  t.is(list.code, 0)
  t.regex(list.out, new RegExp(`${reference} .* pending/manual_review .* unknown`))
  const show = await payouts('show', reference)
  t.regex(show.out, /OPEN {18}unknown/)
  t.notRegex(show.out, /0123456789/)
  const json = JSON.parse((await payouts('show', reference, '--json')).out)
  t.like(json, { ok: true, payout: { reference, sendState: 'manual_review', accountNumber: '******6789' } })
  t.is((await payouts('list', '--older-than', '60')).out.includes(reference), false)
})

test.serial(
  'wrong words end with 2, a missing confirmation with 3, a provider that is away with 5',
  async (t) => {
    const { reference } = await unanswered()
    for (const args of [
      [],
      ['sned'],
      ['show'],
      ['show', 'FIATPAY-1'],
      ['list', '--state', 'x'],
      ['list', '--limit', '-1'],
      ['list', reference],
      ['compare', 'extra'],
    ])
      t.is((await payouts(...args)).code, 2, args.join(' '))
    t.regex((await payouts('relaese', reference)).err, /^there is no relaese\. Did you mean release\?$/m)
    t.regex((await payouts()).err, /^one of list, show, .*^npm run ops -- payouts list/ms)
    t.is((await payouts('--help')).code, 0)
    const unconfirmed = await payouts('replay', reference, '--apply', '--reason', 'x')
    t.is(unconfirmed.code, 3)
    t.regex(unconfirmed.err, new RegExp(`--confirm=${reference}`))
    t.is((await payouts('replay', reference, '--apply', `--confirm=${reference}`)).code, 2)
    const away = { env: { ...world().env, FIATPAY_URL: 'http://127.0.0.1:1' } }
    t.is((await runScript(away, 'payouts', 'replay', reference)).code, 5)
    t.is((await payouts('show', `FIATPAY-${'0'.repeat(32)}`)).code, 1)
  },
)

test.serial('a replay refuses what may have left, and is planned before it is done', async (t) => {
  const { reference } = await unanswered()
  await sentAgo(reference, -3600)
  const early = await payouts('replay', reference, ...surely(reference))
  t.is(early.code, 1)
  t.regex(early.err, /may still turn up/)
  await sentAgo(reference, 3600)
  const careful = { env: { ...world().env, FIATPAY_DEDUPLICATES: '0' } }
  const refused = await runScript(careful, 'payouts', 'replay', reference, ...surely(reference))
  t.regex(refused.err, /may have left/)
  const machine = await runScript(careful, 'payouts', 'replay', reference, ...surely(reference), '--json')
  t.is(machine.code, 1)
  t.is(machine.err, refused.err)
  t.like(JSON.parse(machine.out), {
    ok: false,
    error: refused.err.trimEnd(),
    exitCode: 1,
    applied: false,
    results: [{ reference, done: false }],
  })
  t.regex((await payouts('replay', reference)).out, /would send it once more/)
  t.like(await rowOf(world(), reference), { send_state: 'unknown', sends: 1 })
  t.deepEqual(await auditOf(reference), [])
})

test.serial('a replay from two terminals at once sends once', async (t) => {
  const { ada, reference } = await inReview()
  const workers = [
    createWorkerLoops(world().services, ['payouts']),
    createWorkerLoops(world().services, ['payouts']),
  ]
  t.teardown(() => Promise.all(workers.map((worker) => worker.stop())))
  const runs = await Promise.all([1, 2, 3].map(() => payouts('replay', reference, ...surely(reference))))
  const done = runs.filter(({ code }) => code === 0).length
  t.is(done, 1, JSON.stringify(runs))
  await until('it is sent', async () => (await rowOf(world(), reference)).status === 'submitted')
  t.is(sendings(reference), 2)
  t.is(executions(world(), reference), 1)
  const [entry, ...others] = await auditOf(reference)
  t.like(entry, { actor: 'ngozi', action: 'payouts replay' })
  t.is(entry.details.reason, 'test')
  t.deepEqual(others, [])
  await Promise.all(workers.map((worker) => worker.stop()))
  t.deepEqual(await balanceOf(world(), ada), { availableUSDC: 0, heldUSDC: 20 })
})

test.serial(
  'replaying what is held up by our own fault sends it once, however often it is replayed',
  async (t) => {
    const ada = await creatorWith(world(), 20)
    world().fiat.fiatpay.behaviour.setMode({ transfers: 'no-float' })
    const { reference } = await withdrawal(world(), ada, { amountUSDC: 20 })
    await sendNow(world())
    world().fiat.fiatpay.behaviour.reset()
    t.like(await rowOf(world(), reference), { send_state: 'not_sent', sends: 0 })
    const runs = await Promise.all([1, 2].map(() => payouts('replay', reference, ...surely(reference))))
    t.deepEqual(
      runs.map(({ code }) => code),
      [0, 0],
    )
    await Promise.all([sendNow(world()), sendNow(world())])
    t.is(executions(world(), reference), 1)
    t.is((await payouts('replay', reference, ...surely(reference))).code, 1)
  },
)

test.serial(
  'several are replayed with their number as confirmation, and what is refused is told',
  async (t) => {
    const [one, two] = [await inReview(), await unanswered()]
    await sentAgo(two.reference, -3600)
    const run = await payouts('replay', one.reference, two.reference, ...surely('2'), '--json')
    t.is(run.code, 4)
    t.deepEqual(
      JSON.parse(run.out).results.map(({ done }: { done: boolean }) => done),
      [true, false],
    )
  },
)

test.serial('void gives the money back of what was never executed, and of nothing else', async (t) => {
  const { ada, reference } = await inReview()
  t.is((await payouts('void', reference)).code, 0)
  t.deepEqual(await balanceOf(world(), ada), { availableUSDC: 0, heldUSDC: 20 })
  const runs = await Promise.all([1, 2].map(() => payouts('void', reference, ...surely(reference))))
  t.deepEqual(runs.map(({ code }) => code).sort(), [0, 1])
  t.deepEqual(await balanceOf(world(), ada), { availableUSDC: 20, heldUSDC: 0 })
  t.like((await historyOf(world(), ada))[0], { status: 'failed' })
  t.is((await auditOf(reference)).length, 1)

  const bob = await unanswered()
  t.is((await payouts('void', bob.reference, ...surely(bob.reference))).code, 1)
  const sent = await creatorWith(world(), 20)
  world().fiat.fiatpay.behaviour.setMode({ transfers: 'accept-then-500' })
  const { reference: taken } = await withdrawal(world(), sent, { amountUSDC: 20 })
  await sendNow(world())
  await world().db('withdrawals').where({ reference: taken }).update({ send_state: 'manual_review' })
  const refused = await payouts('void', taken, ...surely(taken))
  t.regex(refused.err, /the provider has it/)
  t.deepEqual(await balanceOf(world(), sent), { availableUSDC: 0, heldUSDC: 20 })
})

/** A withdrawal that was completed and came back, as the reconciler saw it. */
async function returned(t: ExecutionContext): Promise<{ ada: Person; reference: string }> {
  const ada = await creatorWith(world(), 20)
  world().fiat.fiatpay.behaviour.setMode({ transfers: 'manual' })
  const { reference } = await withdrawal(world(), ada, { amountUSDC: 20 })
  await sendNow(world())
  const transfer = () => {
    const found = world().fiat.fiatpay.transfers.find(reference)
    if (found === undefined) throw new Error('the provider has no such transfer')
    return found
  }
  world().fiat.fiatpay.moveTransfer(transfer(), 'success')
  await reconcileNow(world())
  t.is((await payouts('recredit', reference, ...surely(reference))).code, 1)
  world().fiat.fiatpay.moveTransfer(transfer(), 'reversed')
  await until('the webhook has come', async () => (await rowOf(world(), reference)).due_at !== null)
  await reconcileNow(world())
  t.deepEqual(await balanceOf(world(), ada), { availableUSDC: 0, heldUSDC: 0 })
  t.regex((await payouts('list')).out, shownReversed(reference))
  return { ada, reference }
}

const shownReversed = (reference: string) => new RegExp(`${reference} .* completed/sent .* reversed`)

/** Asked about again, the provider shows the reversal as before. It was dealt with: nobody is called, nothing can be credited. */
async function staysDealtWith(t: ExecutionContext, reference: string): Promise<void> {
  t.is((await payouts('ask', reference)).code, 0)
  await reconcileNow(world())
  t.notRegex((await payouts('list')).out, shownReversed(reference))
  t.is((await payouts('recredit', reference, ...surely(reference))).code, 1)
  const { differences } = JSON.parse((await payouts('compare', '--json')).out)
  const own = { providerReference: reference.toLowerCase() }
  t.deepEqual(
    differences.filter((one: typeof own) => one.providerReference === own.providerReference),
    [],
  )
}

test.serial('money that came back after completion is credited again once, by an operator', async (t) => {
  const { ada, reference } = await returned(t)
  const runs = await Promise.all([1, 2].map(() => payouts('recredit', reference, ...surely(reference))))
  t.deepEqual(runs.map(({ code }) => code).sort(), [0, 1])
  t.deepEqual(await balanceOf(world(), ada), { availableUSDC: 20, heldUSDC: 0 })
  t.is((await historyOf(world(), ada))[0]?.status, 'completed')
  await staysDealtWith(t, reference)
  t.deepEqual(await balanceOf(world(), ada), { availableUSDC: 20, heldUSDC: 0 })
  t.is((await auditOf(reference)).length, 1)
})

test.serial('a reversal that was settled outside and closed is never credited as well', async (t) => {
  const { ada, reference } = await returned(t)
  t.is((await payouts('close', reference, ...surely(reference))).code, 0)
  await staysDealtWith(t, reference)
  t.deepEqual(await balanceOf(world(), ada), { availableUSDC: 0, heldUSDC: 0 })
})

test.serial('compare finds what the provider has and we do not, once each, and ends with 4', async (t) => {
  const same = await payouts('compare')
  const before = JSON.parse((await payouts('compare', '--json')).out).differences.length
  t.is(same.code, before === 0 ? 0 : 4)
  const ada = await creatorWith(world(), 20)
  const { reference } = await withdrawal(world(), ada, { amountUSDC: 20 })
  await sendNow(world())
  const transfer = world().fiat.fiatpay.transfers.find(reference)
  if (transfer !== undefined)
    world().fiat.fiatpay.transfers.write({
      ...transfer,
      id: transfer.id + 1_000_000,
      reference: 'somebody-elses-transfer',
    })
  const run = await payouts('compare', '--json')
  t.is(run.code, 4)
  const { differences } = JSON.parse(run.out)
  t.like(
    differences.find((one: { kind: string }) => one.kind === 'not_ours'),
    { providerReference: 'somebody-elses-transfer' },
  )
  await payouts('compare')
  const kept = await world()
    .db('reconciliation_differences')
    .where({ provider_reference: 'somebody-elses-transfer' })
  t.is(kept.length, 1)
})

test.serial('ask tells what the provider says, and lets the reconciler look', async (t) => {
  const ada = await creatorWith(world(), 20)
  world().fiat.fiatpay.behaviour.setMode({ transfers: 'accept-then-timeout' })
  const { reference } = await withdrawal(world(), ada, { amountUSDC: 20 })
  await sendNow(world())
  const asked = payouts('ask', reference)
  await until('the reconciler has found it', async () => {
    await reconcileNow(world())
    return (await rowOf(world(), reference)).status !== 'pending'
  })
  const { code, out } = await asked
  t.is(code, 0)
  t.regex(out, /the provider shows it (started|paid)/)
  t.is((await askWithdrawal(world(), ada, { amountUSDC: 1 })).status, 400)
})
