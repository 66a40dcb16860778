import test from 'ava'
import { measureState } from '../../src/operators/measure-state.js'
import {
  type EnteredBody,
  freshEmail,
  type Person,
  registerCreator,
  registerPerson,
  type TestCreator,
} from '../helpers/make/creators.js'
import { useDisputeWorld } from '../helpers/make/fiat/dispute-world.js'
import { disputeTip, endDispute, lookNow, paidTip } from '../helpers/make/fiat/disputes.js'
import { mailedToken, queuedCode } from '../helpers/make/sign-in/emailed-codes.js'
import {
  countExecutions,
  createWithdrawal,
  creditCreator,
  followOutcome,
  listHistory,
  readBalance,
  readWithdrawalRow,
  sendDuePayouts,
} from '../helpers/make/withdrawals.js'
import { runOpsScript } from '../helpers/run-ops-script.js'
import { setRows } from '../helpers/servers/world.js'

const world = useDisputeWorld(test)

interface Refused {
  readonly error: string
  readonly code: string
  readonly details: readonly { readonly field: string; readonly problem: string }[]
}

let accounts = 0
/** A bank account that nobody has used before. */
const newAccount = () => ({ accountNumber: String(2_000_000_000 + ++accounts) })

/** Somebody who has read a mail to their own address. */
async function creator(email?: string): Promise<TestCreator> {
  const person = await registerCreator(world(), {}, email)
  const body = { email: person.email, code: await queuedCode(world(), person.email) }
  const proven = await world().request<EnteredBody>('POST', '/auth/otp/verify', { body })
  return { ...person, session: proven.session ?? '' }
}

async function payOut(person: Person, amountUSDC: number, account: { readonly accountNumber: string }) {
  const { reference } = await createWithdrawal(world(), person, { amountUSDC, ...account })
  await sendDuePayouts(world())
  if (countExecutions(world(), reference) > 0) await followOutcome(world(), reference, 'success')
  return reference
}

/** In the session that a mailed code has opened, of an account without a password. */
async function close({ user, session }: Pick<Person, 'user' | 'session'>) {
  await world().db('users').where({ id: user.id }).update({ password_hash: null })
  return world().request<Refused>('DELETE', '/auth/me', { session, body: { leaveTokens: true } })
}

async function changeEmail({ session, password }: Person): Promise<void> {
  const email = freshEmail()
  await world().request('POST', '/auth/email', { session, body: { email, password } })
  const token = await mailedToken(world(), 'email-change', email)
  await world().request('POST', '/auth/email/confirm', { body: { token } })
  await world().db.raw(`update email_changes set changed_at = changed_at - interval '80 hours'`)
}

/** A stolen card: a tip, its naira at the bank, and the account closed before anybody complains. The loss follows. */
async function leaveDebt(account: { readonly accountNumber: string }, thief?: TestCreator) {
  const gone = thief ?? (await creator())
  const { intentId } = await paidTip(world(), gone)
  await payOut(gone, 9.5, account)
  const closed = await close(gone)
  if (closed.status !== 200) throw new Error(JSON.stringify(closed.body))
  await endDispute(world(), disputeTip(world(), intentId), 'lost')
  return gone
}

const reviewsOf = (reference: string) =>
  world()
    .db('review_items as r')
    .join('withdrawals as w', 'w.id', 'r.withdrawal_id')
    .where({ reference })
    .orderBy('r.id')
    .select('r.kind', 'r.resolution', 'r.details')

/** Whether a withdrawal of ten dollars is held for a review and not sent. */
async function isHeld(person: Person, account: { readonly accountNumber: string }): Promise<boolean> {
  await creditCreator(world(), person.user.id, 10_000_000n)
  const reference = await payOut(person, 10, account)
  const [row] = await listHistory(world(), person)
  const open = (await reviewsOf(reference)).filter(({ resolution }) => resolution === null)
  const held = row?.heldFor === 'dispute'
  if (held !== (open.length === 1) || held !== (countExecutions(world(), reference) === 0))
    throw new Error(`${row?.status} ${row?.heldFor}, ${open.length} reviews`)
  return held
}

test.serial('an account is not closed while a dispute is open or a debt stands', async (t) => {
  const ada = await creator()
  const { intentId } = await paidTip(world(), ada)
  await payOut(ada, 9.5, newAccount())
  const dispute = disputeTip(world(), intentId)
  await lookNow(world())
  const disputed = await close(ada)
  t.is(disputed.status, 409)
  t.deepEqual(
    disputed.body.details.map(({ field }) => field),
    ['disputes'],
  )
  await endDispute(world(), dispute, 'lost')
  const indebted = await close(ada)
  t.like(indebted, { status: 409, body: { code: 'account_has_money' } })
  t.deepEqual(indebted.body.details, [
    { field: 'debts', problem: '9.5 USDC are owed for tips that went back; what arrives pays it' },
  ])
  await creditCreator(world(), ada.user.id, 9_500_000n)
  t.is((await close(ada)).status, 200, 'what arrived has paid it')
})

test.serial('a debt left behind holds the withdrawals of who comes back, and debits nobody', async (t) => {
  const account = newAccount()
  const gone = await leaveDebt(account)
  const same = await creator(gone.email)
  t.true(await isHeld(same, newAccount()), 'the same e-mail')
  t.deepEqual(await readBalance(world(), same), { availableUSDC: 0, heldUSDC: 10 }, 'nothing is debited')

  const unproven = await registerPerson(world(), 'Ada', (await leaveDebt(newAccount())).email)
  t.true(await isHeld(unproven, newAccount()), 'also before it is proven')

  const moved = await creator()
  const first = moved.email
  await changeEmail(moved)
  await leaveDebt(newAccount(), moved)
  t.true(await isHeld(await creator(first), newAccount()), 'the e-mail before a change')

  const again = await leaveDebt(newAccount())
  const hidden = await creator(again.email)
  await changeEmail(hidden)
  t.true(await isHeld(hidden, newAccount()), 'the e-mail was changed after the return')

  t.true(await isHeld(await creator(), account), 'another e-mail, the same bank account')
  t.false(await isHeld(await creator(), newAccount()), 'somebody else')
})

test.serial('a debt that is paid or written off holds nobody any more', async (t) => {
  const account = newAccount()
  const gone = await leaveDebt(account)
  const ada = await creator()
  t.true(await isHeld(ada, account))
  const written = await runOpsScript(
    world(),
    'receivables',
    '--write-off',
    gone.user.id,
    '--apply',
    `--confirm=${gone.user.id}`,
    '--reason',
    'x',
  )
  t.is(written.code, 0, written.err)
  await world()
    .db('withdrawals')
    .where({ user_id: ada.user.id })
    .update({ due_at: new Date(0) })
  await sendDuePayouts(world())
  const [sent] = await listHistory(world(), ada)
  t.like(sent, { heldFor: null })
  t.is(countExecutions(world(), sent?.reference ?? ''), 1)
  t.is((await reviewsOf(sent?.reference ?? ''))[0].resolution, 'nothing is owed any more')
})

test.serial('what a thief has planted costs its owner one review, and no money', async (t) => {
  const account = newAccount()
  const owner = await creator()
  t.false(await isHeld(owner, account))
  const thief = await creator()
  const { intentId } = await paidTip(world(), thief)
  await payOut(thief, 9.5, account)
  await endDispute(world(), disputeTip(world(), intentId), 'lost')

  await creditCreator(world(), owner.user.id, 10_000_000n)
  const { reference } = await createWithdrawal(world(), owner, { amountUSDC: 10, ...account })
  await sendDuePayouts(world())
  t.like((await listHistory(world(), owner))[0], { heldFor: 'dispute', status: 'pending' })
  t.like((await reviewsOf(reference))[0], { kind: 'debt', details: { debtors: thief.user.id } })
  const { unfinished } = await measureState(world().db)
  t.is(
    unfinished.find(({ kind }) => kind === 'payouts')?.seconds,
    0,
    'it waits for a person, not for a worker',
  )
  const listed = await runOpsScript(world(), 'payouts', 'show', reference)
  t.regex(listed.out, new RegExp(`review opened: debt: of ${thief.user.id}`))
  const given = ['--apply', `--confirm=${reference}`, '--reason', 'has used it for a year']
  const release = (...more: string[]) => runOpsScript(world(), 'payouts', 'release', reference, ...more)
  const limit = { breaker: 'creator_hour', breaker_since: new Date() }
  await setRows(world(), 'withdrawals', { reference }, limit)
  t.regex((await release()).out, /the debts of the review; it still waits for the limit creator_hour/)
  const released = await release(...given)
  t.is(released.code, 0, released.err)
  t.like(await readWithdrawalRow(world(), reference), { breaker: 'creator_hour', breaker_released_at: null })
  await sendDuePayouts(world())
  t.is(countExecutions(world(), reference), 1)
  await followOutcome(world(), reference, 'success')
  t.false(await isHeld(owner, account), 'the same debt does not hold them again')
  t.deepEqual(await readBalance(world(), owner), { availableUSDC: 0, heldUSDC: 0 })

  const planter = await registerCreator(world(), {}, freshEmail())
  await changeEmail(planter)
  await leaveDebt(newAccount(), planter)
  t.false(await isHeld(await creator(planter.email), newAccount()), 'the thief never read that mailbox')
})
