import test from 'ava'
import { composeDisputes, composeRefundReader } from '../../../src/compose.js'
import { decideAnswer, sendAnswer, takeForAnswer } from '../../../src/fiat/disputes/answer-dispute.js'
import { compareCollections } from '../../../src/fiat/disputes/compare-collections.js'
import { findDispute, type StoredDispute } from '../../../src/fiat/disputes/dispute.js'
import { collectEvidence, evidenceFile, wireEvidence } from '../../../src/fiat/disputes/evidence.js'
import { ProviderError } from '../../../src/kernel/provider-error.js'
import { checkBooks } from '../../../src/ledger/invariants.js'
import { listOpenCases } from '../../../src/operators/open-cases.js'
import { countAlerts } from '../../helpers/alerts-and-mails.js'
import { withWallClock } from '../../helpers/clock.js'
import { disputeTip, lookNow, paidTip, payableCreator } from '../../helpers/make/fiat/disputes.js'
import { createFiatIntent, payFiatIntent, settleIntentNow } from '../../helpers/make/fiat/fiat-tips.js'
import { readBalance } from '../../helpers/make/withdrawals.js'
import { runOpsScript } from '../../helpers/run-ops-script.js'
import { as } from '../../helpers/servers/roles.js'
import { setRows, useWorld } from '../../helpers/servers/world.js'

const world = useWorld(test, { fiat: true })

const disputes = (...args: string[]) => runOpsScript(world(), 'disputes', ...args)
const confirmed = (id: string) => ['--apply', `--confirm=${id}`, '--reason', 'ticket 9', '--as', 'ngozi']
async function stored(id: string): Promise<StoredDispute> {
  const dispute = await findDispute(world().db, id)
  if (dispute === undefined) throw new Error(`no dispute ${id}`)
  return dispute
}
const alarms = (kind: string) => countAlerts(world(), kind)

test.beforeEach('webhooks are lost', () => world().fiat.fiatpay.faults.setMode({ webhooks: 'off' }))
test.afterEach.always('the ledger is consistent', async (t) => {
  t.true((await checkBooks(world().db)).holds)
})

/** A disputed tip that the service knows of. */
async function disputed(tip: Record<string, unknown> = {}) {
  const creator = await payableCreator(world())
  const { intentId } = await paidTip(world(), creator, tip)
  const dispute = disputeTip(world(), intentId)
  await lookNow(world())
  return { creator, intentId, id: String(dispute.id) }
}

const atProvider = (id: string) => world().fiat.fiatpay.disputes.get(Number(id))

test.serial('an anonymous payer is never named, and accepting is final and audited', async (t) => {
  const { creator, id } = await disputed({
    senderName: 'Zqxwoman',
    payerEmail: 'zqxsecret@example.com',
    isAnonymous: true,
  })
  const cases = await listOpenCases(world().db)
  t.like(cases[0], { what: 'disputed payments that wait for our answer', count: 1 })
  const listed = await disputes()
  t.is(listed.code, 4)
  t.regex(listed.out, new RegExp(`^${id} {2}open {6}15 h left`, 'm'))
  const shown = await disputes(id)
  t.is(shown.code, 4)
  t.regex(shown.out, /--accept: the payer is anonymous/)
  t.notRegex(shown.out, /zqx/i)

  t.is((await disputes(id, '--accept')).code, 0, 'a plan')
  t.is(atProvider(id)?.status, 'awaiting-merchant-feedback')
  t.is((await disputes(id, '--accept', '--apply', '--reason', 'x')).code, 3)
  t.is((await disputes(id, '--accept', '--apply', `--confirm=${id}`)).code, 2)
  const done = await disputes(id, '--accept', ...confirmed(id))
  t.is(done.code, 0, done.err)
  t.like(atProvider(id), { status: 'resolved', resolution: 'merchant-accepted', evidence: null })
  t.deepEqual(await readBalance(world(), creator), { availableUSDC: 0, heldUSDC: 0 })
  const audit = await world()
    .db('audit_log')
    .where({ subject: `dispute:${id}` })
  t.like(audit, [
    { actor: 'ngozi', action: 'dispute answer', details: { answer: 'accept', reason: 'ticket 9' } },
  ])
  const again = await disputes(id, '--decline', '--message', 'no', ...confirmed(id))
  t.is(again.code, 1)
  t.regex(again.err, /is lost already/)
})

test.serial('a known payer is declined with evidence from our rows, and the bank decides', async (t) => {
  const { creator, id, intentId } = await disputed({ senderName: 'Bola', payerEmail: 'bola@example.com' })
  t.is((await disputes(id, '--decline')).code, 2, 'the bank wants a message')
  const done = await disputes(id, '--decline', '--message', 'Bola wrote to us', ...confirmed(id), '--json')
  t.is(done.code, 0, done.err)
  t.like(JSON.parse(done.out), { ok: true, applied: true, state: 'answered' })
  t.like(atProvider(id), { status: 'awaiting-bank-feedback', message: 'Bola wrote to us' })
  t.truthy(atProvider(id)?.evidence)
  t.like(await readBalance(world(), creator), { heldUSDC: 9.5 })

  const evidence = await collectEvidence(as('operators', world().services), await stored(id))
  if (evidence === undefined) throw new Error('no evidence')
  const pdf = Buffer.from(evidenceFile(id, 'Bola (wrote) to us', evidence).bytes).toString('latin1')
  for (const part of [
    '%PDF-1.4',
    intentId,
    'NGN 15,200.00',
    '9.5 USDC',
    'Bola \\(wrote\\) to us',
    'bola@example.com',
  ])
    t.true(pdf.includes(part), part)
  t.like(wireEvidence(evidence), { email: 'bola@example.com', name: 'Bola' })
})

test.serial('an unanswered answer is not sent again before the provider had time to show it', async (t) => {
  const { id } = await disputed()
  const { services, db } = world()
  const real = composeDisputes(services.config)
  const lossy = (arrives: boolean) => ({
    ...real,
    answer: async (...given: Parameters<typeof real.answer>) => {
      if (arrives) await real.answer(...given)
      throw new ProviderError('ambiguous', 'the provider did not answer')
    },
  })
  const order = { answer: 'accept', message: 'yes', by: 'ngozi' } as const
  const attempt = async (before: StoredDispute, arrives: boolean) => {
    const taken = await services.transact((uow) => takeForAnswer(uow, before, order))
    if (taken === undefined) return undefined
    const needs = { evidence: undefined, wasUnknown: before.answerSentAt !== null }
    return sendAnswer(services, lossy(arrives), { ...before, ...taken }, order, needs)
  }
  const seen = await stored(id)
  const [one, other] = await Promise.all([attempt(seen, false), attempt(seen, false)])
  t.is([one, other].filter((outcome) => outcome?.kind === 'unknown').length, 1, 'of two operators one sends')
  const early = await disputes(id, '--accept', ...confirmed(id))
  t.is(early.code, 5)
  t.regex(early.err, /run this again in \d+ s/)
  await db.raw(`update disputes set answer_sent_at = answer_sent_at - interval '1 hour' where id = ?`, [id])
  t.like(await attempt(await stored(id), true), { kind: 'unknown' })
  const found = await disputes(id, '--accept', ...confirmed(id))
  t.is(found.code, 0, found.err)
  t.regex(found.out, /accepted already/)
  t.is(atProvider(id)?.status, 'resolved')
})

test('a dispute is answered once it is certain that no answer is on its way', (t) => {
  const open = {
    id: '7',
    state: 'open',
    answer: null,
    answerSentAt: null,
    sinceAnswer: null,
  } as StoredDispute
  const sent = { ...open, answer: 'accept', answerSentAt: 'then', sinceAnswer: 10 } as StoredDispute
  t.deepEqual(decideAnswer(open, { answer: 'accept' }, 900), { kind: 'send' })
  t.deepEqual(decideAnswer(sent, { answer: 'accept' }, 900), { kind: 'wait', seconds: 890 })
  t.deepEqual(decideAnswer({ ...sent, sinceAnswer: 901 }, { answer: 'accept' }, 900), { kind: 'send' })
  t.deepEqual(decideAnswer({ ...sent, state: 'lost' }, { answer: 'accept' }, 900), { kind: 'done' })
  t.like(decideAnswer({ ...sent, state: 'answered' }, { answer: 'accept' }, 900), { kind: 'done' })
  t.like(decideAnswer({ ...sent, state: 'won' }, { answer: 'decline' }, 900), { kind: 'refuse' })
})

test.serial('an unanswered dispute alarms once more when little time is left', async (t) => {
  world().fiat.fiatpay.faults.setMode({ disputeDueMs: 3 * 3_600_000 })
  const before = await alarms('dispute_open')
  const { id } = await disputed()
  t.is(await alarms('dispute_open'), before + 2)
  await lookNow(world())
  t.is(await alarms('dispute_open'), before + 2)
  t.true((await stored(id)).secondsLeft < 3 * 3600)
  world().fiat.fiatpay.faults.setMode({ disputeDueMs: 57_600_000 })

  const lost = await disputed()
  const answered = async (seconds: number) => {
    const answer_sent_at = new Date(Date.now() - seconds * 1000)
    const answer_by = new Date(Date.now() + 3_600_000)
    const order = { answer: 'accept', answer_message: 'yes', answered_by: 'ngozi' }
    await setRows(world(), 'disputes', { id: lost.id }, { ...order, answer_sent_at, answer_by })
    await lookNow(world())
    return alarms('dispute_open')
  }
  const told = await alarms('dispute_open')
  t.is(await answered(10), told, 'its answer may be on its way')
  t.is(await answered(1000), told + 1, 'the provider shows none')
  const seen = await stored(lost.id)
  const order = { answer: 'accept', message: 'yes', by: 'ngozi' } as const
  t.truthy(await world().services.transact((uow) => takeForAnswer(uow, seen, order)))
  t.is(await answered(1000), told + 2, 'nor of the answer after the reminder')
})

test.serial('the daily comparison finds a difference that the look has not seen yet, once', async (t) => {
  const { id } = await disputed()
  const { services } = world()
  const compare = () =>
    compareCollections({ ...as('clock', services), refunds: composeRefundReader(services.config) })
  const last_seen_at = new Date(Date.now() - 72 * 3_600_000)
  await world().db('collection_differences').insert({ subject: 'payment 1', kind: 'not_ours', last_seen_at })
  t.is((await disputes('--compare')).code, 0, 'one that left the compared days is none of now')
  const dispute = atProvider(id)
  if (dispute === undefined) throw new Error('no dispute')
  world().fiat.fiatpay.loseDispute(dispute, 'auto-accepted', dispute.amountKobo)
  const before = await alarms('collection_difference')
  await compare()
  await compare()
  t.is(await alarms('collection_difference'), before + 3, 'the dispute, its payment and what came back of it')
  const shown = await disputes('--compare')
  t.is(shown.code, 4)
  t.regex(shown.out, new RegExp(`dispute ${id}  state  ours: open  the provider's: lost`))
  t.regex(shown.out, /returns of payment \d+ {2}amount {2}ours: NGN 0\.00 {2}the provider's: NGN 15,200\.00/)
  await lookNow(world())
  t.is((await disputes('--compare')).code, 0)
})

test.serial('a payment of this minute is no difference, whatever the process’s clock says', async (t) => {
  const { services } = world()
  const creator = await payableCreator(world())
  const { intentId } = await createFiatIntent(world(), { creatorId: creator.user.id, amount: 10 })
  payFiatIntent(world(), intentId)
  const before = await alarms('collection_difference')
  for (const hours of [-3, 3])
    await withWallClock(hours * 3_600_000, () =>
      compareCollections({ ...as('clock', services), refunds: composeRefundReader(services.config) }),
    )
  t.is(await alarms('collection_difference'), before)

  // After a restore it is none as long as settlement polls its intent.
  const afterRestore = () =>
    compareCollections({ ...as('clock', services), refunds: composeRefundReader(services.config) }, 1)
  await afterRestore()
  t.is(await alarms('collection_difference'), before)
  const intent = () => world().db('fiat_intents').where({ id: intentId })
  const { due_at } = await intent().first()
  await intent().update({ due_at: null })
  await afterRestore()
  t.is(await alarms('collection_difference'), before + 1)
  await intent().update({ due_at })
  await settleIntentNow(world(), intentId)
  await afterRestore()
  t.is((await disputes('--compare')).code, 0)
})
