import { randomBytes } from 'node:crypto'
import test from 'ava'
import { codeIn } from '../../scripts/kit/client.js'
import { mailText } from '../../scripts/kit/mail-text.js'
import { deleteExpired } from '../../src/accounts/delete-expired.js'
import { hashSecret } from '../../src/kernel/ids.js'
import { ExchangeRates } from '../../src/market/exchange-rates.js'
import { listOpenCases } from '../../src/operators/open-cases.js'
import { countWork } from '../../src/operators/work-rows.js'
import { verifyIdentity } from '../../src/withdrawals/confirmation/release.js'
import { mailKinds } from '../helpers/alerts-and-mails.js'
import { createClient } from '../helpers/http/client.js'
import { requestRaw } from '../helpers/http/raw-request.js'
import { freshEmail, type Person } from '../helpers/make/creators.js'
import { paidTip } from '../helpers/make/fiat/refunds.js'
import { Authenticator, type CreationOptions } from '../helpers/make/sign-in/authenticator.js'
import { mailerBatch, wrongCode } from '../helpers/make/sign-in/emailed-codes.js'
import { decodeBase32, totpCode } from '../helpers/make/sign-in/factors.js'
import {
  bank,
  countExecutions,
  createWithdrawal,
  creatorWithBalance,
  listHistory,
  type PayoutBody,
  readBalance,
  readWithdrawalRow,
  requestWithdrawal,
  sendDuePayouts,
  type WithdrawalBody,
} from '../helpers/make/withdrawals.js'
import { runOpsScript } from '../helpers/run-ops-script.js'
import { as } from '../helpers/servers/roles.js'
import { startApp } from '../helpers/servers/serve-app.js'
import { runBatch, setRows, useWorld } from '../helpers/servers/world.js'
import { until } from '../helpers/until.js'
import { listBrokenInvariants } from '../ledger/support.js'

/** No payout worker runs: an answer that waited for one would come after a minute. The tests run the batches. */
const world = useWorld(test, {
  fiat: true,
  mail: true,
  env: { TRUST_PROXY: 'true', CONFIRM_ACCOUNTS: 'new' },
})
test.afterEach.always('the ledger is consistent', async (t) => {
  t.deepEqual(await listBrokenInvariants(world().db), [])
})

const otherAccount = { accountNumber: '9876543210' }

/** A creator whose first withdrawal, to the usual account, the provider has accepted. */
async function creatorWhoWithdrew(usdc: number): Promise<Person> {
  const ada = await creatorWithBalance(world(), usdc + 5)
  await createWithdrawal(world(), ada, { amountUSDC: 5 })
  await sendDuePayouts(world())
  return ada
}

/** A withdrawal of 10 USDC that is held for the creator's confirmation. */
async function createHeld(ada: Person, body: Record<string, unknown> = {}): Promise<WithdrawalBody> {
  return createWithdrawal(world(), ada, { amountUSDC: 10, ...otherAccount, ...body })
}

/** The newest code that was mailed to this address for a withdrawal. */
async function mailedCode(email: string, reference: string): Promise<string> {
  let code: string | undefined
  await until('the code arrives', async () => {
    await runBatch(mailerBatch(world()))
    const mails = world().mail.received(email)
    const mail = mails.find(({ subject, text }) => /^Confirm/.test(subject) && text.includes(reference))
    code = codeIn(mail?.text ?? '')
    return code !== undefined
  })
  return code ?? ''
}

const act = <Body = PayoutBody>(ada: Person, reference: string, what: string, body: object = {}) =>
  world().request<Body & { error?: string; code?: string }>('POST', `/payouts/${reference}/${what}`, {
    session: ada.session,
    body,
  })

interface Payee {
  readonly id: string
  readonly accountNumber: string
  readonly confirmed: boolean
}
async function listPayees(ada: Person): Promise<readonly Payee[]> {
  const { body } = await world().request<{ payees: Payee[] }>('GET', '/creators/payees', {
    session: ada.session,
  })
  return body.payees
}

/** Kinds of the mails to an address, oldest first. */
const mailsTo = (recipient: string) => mailKinds(world(), recipient)

test.serial('a stolen cookie: nothing leaves for another account, and the owner knows at once', async (t) => {
  const ada = await creatorWhoWithdrew(40)
  await runBatch(mailerBatch(world()))
  const thiefs = await createHeld(ada, { amountUSDC: 40 })
  t.like(thiefs, { status: 'pending', heldFor: 'confirmation', requiresVerification: false })
  const code = await mailedCode(ada.email, thiefs.reference)
  const mail = world()
    .mail.received(ada.email)
    .find(({ subject }) => /^Confirm/.test(subject))
  t.regex(mail?.text ?? '', /NGN 63,360\.00/)
  t.regex(mail?.text ?? '', /\*{6}3210/)
  t.notRegex(mail?.text ?? '', /9876543210|Ada Obi/)
  t.regex(mail?.text ?? '', /This was not me:\n\S+#not-me=/)
  const told = await world().db('emails').where({ recipient: ada.email, kind: 'withdrawal-requested' })
  t.is(told.length, 2)
  t.is(
    await world()
      .db('one_time_secrets')
      .where({ user_id: ada.user.id, purpose: 'not_me' })
      .then((all) => all.length),
    5,
  )

  await sendDuePayouts(world())
  t.is(countExecutions(world(), thiefs.reference), 0)
  t.like(await readWithdrawalRow(world(), thiefs.reference), {
    send_state: 'confirmation_hold',
    due_at: null,
  })
  for (const guess of [1, 2, 3, 4, 5]) {
    const refused = await act(ada, thiefs.reference, 'confirm', { code: wrongCode(code, guess) })
    t.is(refused.status, 400)
    t.is(refused.body.error, 'Invalid or expired code')
  }
  t.is(
    (await act(ada, thiefs.reference, 'confirm', { code })).status,
    400,
    'five wrong ones void the right one',
  )
  t.is((await act(ada, thiefs.reference, 'confirm', { totp: '123456' })).status, 400)
  t.is((await act(ada, thiefs.reference, 'confirm')).status, 400)
  // The statement that would send it is refused by the database too.
  const { id } = await readWithdrawalRow(world(), thiefs.reference)
  await t.throwsAsync(world().db('withdrawals').where({ id }).update({ send_state: 'not_sent' }), {
    message: /withdrawals_confirmed/,
  })

  const cancelled = await act(ada, thiefs.reference, 'cancel')
  t.is(cancelled.status, 200)
  t.like(cancelled.body, { status: 'failed', failureReason: 'Cancelled by the creator', heldFor: null })
  t.deepEqual(
    (await act(ada, thiefs.reference, 'cancel')).body,
    cancelled.body,
    'a repetition changes nothing',
  )
  t.is((await readBalance(world(), ada)).availableUSDC, 40)
  t.is((await mailsTo(ada.email)).at(-1), 'withdrawal-cancelled')
})

test.serial('the first account is free, once it is used no other is, nor a removed one', async (t) => {
  const ada = await creatorWithBalance(world(), 100)
  const heldFor = async (body: object) =>
    (await createWithdrawal(world(), ada, { amountUSDC: 5, ...body })).heldFor
  t.is(await heldFor({}), null)
  t.is(await heldFor({}), null)
  const other = await createHeld(ada)
  t.is(other.heldFor, 'confirmation', 'while nothing was sent')
  t.deepEqual(await mailsTo(ada.email), [
    'payee-added',
    'withdrawal-requested',
    'withdrawal-requested',
    'payee-added',
    'withdrawal-requested',
    'withdrawal-code',
  ])
  t.deepEqual(
    (await listPayees(ada)).map(({ accountNumber, confirmed }) => [accountNumber, confirmed]),
    [
      ['******3210', false],
      ['******6789', false],
    ],
  )
  await act(ada, other.reference, 'confirm', { code: await mailedCode(ada.email, other.reference) })
  await sendDuePayouts(world())
  t.true((await listPayees(ada)).every(({ confirmed }) => confirmed))
  t.is(await heldFor({}), null)
  t.is(await heldFor({ accountNumber: '1111111111' }), 'confirmation')
  t.is(await heldFor({ bankCode: '033' }), 'confirmation', 'the same number at another bank')

  const [payee] = (await listPayees(ada)).filter(({ accountNumber }) => accountNumber === '******3210')
  const remove = (session: string) =>
    world().request<{ error?: string }>('DELETE', `/creators/payees/${payee?.id}`, { session })
  t.is((await remove((await creatorWithBalance(world(), 0)).session)).status, 404)
  t.is((await remove(ada.session)).status, 200)
  t.is((await remove(ada.session)).body.error, 'Payee not found')
  t.false((await listPayees(ada)).some(({ id }) => id === payee?.id))
  const again = await createHeld(ada)
  t.is(again.heldFor, 'confirmation')
  t.is((await listPayees(ada))[0]?.id, payee?.id, 'used again, it is listed again')
  t.false((await listPayees(ada))[0]?.confirmed)
  const code = await mailedCode(ada.email, again.reference)
  const confirmed = await act(ada, again.reference, 'confirm', { code })
  t.like(confirmed.body, { reference: again.reference, status: 'pending', heldFor: null })
  t.true((await listPayees(ada))[0]?.confirmed)
  t.is(await heldFor(otherAccount), null)
  await sendDuePayouts(world())
  t.is(countExecutions(world(), again.reference), 1)
})

test.serial('of five withdrawals at once to five new bank accounts one is sent unconfirmed', async (t) => {
  const ada = await creatorWithBalance(world(), 50)
  const [first, second] = await Promise.all([1, 2].map(() => startApp(t, world().env)))
  const requests = await Promise.all([first, second].map((app) => createClient(app?.url ?? '')))
  const answers = await Promise.all(
    [1, 2, 3, 4, 5].map((n) =>
      requests[n % 2]?.<WithdrawalBody>('POST', '/payouts/withdraw', {
        session: ada.session,
        body: { ...bank, accountNumber: `${n}`.repeat(10), amountUSDC: 10 },
      }),
    ),
  )
  const references = answers.map((answer) => answer?.body.reference ?? '')
  await sendDuePayouts(world())
  t.is(references.filter((reference) => countExecutions(world(), reference) > 0).length, 1)
  t.is(answers.filter((answer) => answer?.body.heldFor === 'confirmation').length, 4)
})

test.serial('under recommended a new session or device confirms the first account too', async (t) => {
  const { db, env } = world()
  const app = await startApp(t, { ...env, GUARDS: 'recommended', CONFIRM_ACCOUNTS: 'all' })
  const request = await createClient(app.url)
  const device = randomBytes(32).toString('base64url')
  const heldFor = async (ada: Person, body: object = {}) => {
    const { body: made } = await request<WithdrawalBody>('POST', '/payouts/withdraw', {
      headers: { cookie: `session=${ada.session}; device=${device}` },
      body: { ...bank, amountUSDC: 5, ...body },
    })
    return made.heldFor
  }
  const age = (table: string, column: string, ada: Person, by: string) =>
    db(table)
      .where({ user_id: ada.user.id })
      .update({ [column]: db.raw(`clock_timestamp() - ?::interval`, [by]) })
  const knowDevice = (ada: Person) =>
    db('devices')
      .where({ user_id: ada.user.id })
      .update({ device_hash: hashSecret(device) })

  const newcomer = await creatorWithBalance(world(), 50)
  t.is(await heldFor(newcomer), 'confirmation')
  const otherDevice = await creatorWithBalance(world(), 50)
  await age('sessions', 'created_at', otherDevice, '25 hours')
  t.is(await heldFor(otherDevice), 'confirmation', 'a stolen cookie')

  const settled = await creatorWithBalance(world(), 50)
  await age('sessions', 'created_at', settled, '25 hours')
  await knowDevice(settled)
  t.is(await heldFor(settled), 'confirmation', 'a new device')
  const known = await creatorWithBalance(world(), 50)
  await age('sessions', 'created_at', known, '25 hours')
  await age('devices', 'first_seen_at', known, '25 hours')
  await knowDevice(known)
  t.is(await heldFor(known), null)
  t.is(await heldFor(known), 'confirmation', 'another is on its way')
  await sendDuePayouts(world())
  t.is(await heldFor(known), null, 'it was accepted')
  t.is(await heldFor(known, otherAccount), 'confirmation')
})

test.serial('a removed payee needs a confirmation before the first accepted withdrawal too', async (t) => {
  const ada = await creatorWithBalance(world(), 20)
  await createWithdrawal(world(), ada, { amountUSDC: 5 })
  const [payee] = await listPayees(ada)
  await world().request('DELETE', `/creators/payees/${payee?.id}`, { session: ada.session })
  t.is((await createWithdrawal(world(), ada, { amountUSDC: 5 })).heldFor, 'confirmation')
})

test.serial('a device and a network that are both new need a confirmation, one does not', async (t) => {
  const ada = await creatorWithBalance(world(), 100)
  const token = () => randomBytes(32).toString('base64url')
  const [known, other] = [token(), token()]
  const heldFrom = async (network: string, device: string) => {
    const { body } = await world().request<WithdrawalBody>('POST', '/payouts/withdraw', {
      body: { ...bank, amountUSDC: 5 },
      headers: { cookie: `session=${ada.session}; device=${device}`, 'x-forwarded-for': network },
    })
    return body.heldFor
  }
  t.is(await heldFrom('192.0.2.1', known), null)
  t.is(await heldFrom('203.0.113.9', other), null, 'nothing to compare with')
  await world()
    .db('withdrawals')
    .where({ user_id: ada.user.id })
    .whereNot({ client_network: '192.0.2.1' })
    .then(async ([row]) => {
      await act(ada, row.reference, 'cancel')
    })
  await sendDuePayouts(world())
  t.is(await heldFrom('203.0.113.9', known), null)
  t.is(await heldFrom('192.0.2.1', other), null)
  t.is(await heldFrom('198.51.100.4', token()), 'confirmation')
  const [mail] = await world().db('emails').where({ recipient: ada.email, kind: 'withdrawal-code' })
  t.regex(
    mailText(mail).replaceAll(/\s+/g, ' '),
    /on a device and from a network that you have not withdrawn from/,
  )
})

test.serial('what was trusted before the credentials were void is trusted no more', async (t) => {
  const ada = await creatorWhoWithdrew(40)
  t.is((await createWithdrawal(world(), ada, { amountUSDC: 1 })).heldFor, null)
  t.true((await listPayees(ada))[0]?.confirmed)
  await world()
    .db('users')
    .where({ id: ada.user.id })
    .update({ credentials_void_before: world().db.raw('clock_timestamp()') })
  t.false((await listPayees(ada))[0]?.confirmed)
  const { heldFor, reference } = await createWithdrawal(world(), ada, { amountUSDC: 5 })
  t.is(heldFor, 'confirmation')
  await act(ada, reference, 'confirm', { code: await mailedCode(ada.email, reference) })
  t.true((await listPayees(ada))[0]?.confirmed)
})

test.serial('after a change of e-mail or factor, codes go to the address that can be restored', async (t) => {
  const ada = await creatorWhoWithdrew(40)
  const old = freshEmail()
  const users = () => world().db('users').where({ id: ada.user.id })
  await users().update({ factors_changed_at: new Date() })
  t.is((await createHeld(ada, bank)).heldFor, 'confirmation')
  await users().update({ factors_changed_at: new Date(Date.now() - 73 * 3_600_000) })
  t.is((await createWithdrawal(world(), ada, { amountUSDC: 1 })).heldFor, null)
  await world()
    .db('email_changes')
    .insert({
      user_id: ada.user.id,
      old_email: old,
      new_email: ada.email,
      undo_until: new Date(Date.now() + 72 * 3_600_000),
    })
  const before = (await mailsTo(ada.email)).length
  const held = await createHeld(ada)
  t.is(held.heldFor, 'confirmation')
  t.deepEqual(await mailsTo(old), ['payee-added', 'withdrawal-requested', 'withdrawal-code'])
  t.deepEqual((await mailsTo(ada.email)).slice(before), ['payee-added', 'withdrawal-requested'])
  const code = await mailedCode(old, held.reference)
  t.is((await act(ada, held.reference, 'confirm', { code })).status, 200)
})

test.serial('the page of the mail confirms a withdrawal alone, without a session or a code', async (t) => {
  const { db, request } = world()
  const ada = await creatorWhoWithdrew(40)
  const press = async (token: string) => {
    const { status, body } = await request<{ code?: string }>('POST', '/auth/withdrawals/confirm', {
      body: { token },
    })
    return body.code ?? status
  }
  const heldWithLink = async () => {
    const { reference } = await createHeld(ada)
    await mailedCode(ada.email, reference)
    const mails = world().mail.received(ada.email)
    const links = mails.flatMap(({ text }) => /#confirm-withdrawal=([\w-]+)$/m.exec(text)?.[1] ?? [])
    return { reference, token: links.find((link) => link.startsWith(reference)) ?? '' }
  }
  const { reference, token } = await heldWithLink()
  const other = await heldWithLink()
  for (const wrong of [
    `${token.slice(0, -1)}${token.endsWith('A') ? 'E' : 'A'}`,
    `${reference}${other.token.slice(reference.length)}`,
    reference,
    'x',
  ])
    t.is(await press(wrong), 'invalid_link')
  const users = db('users').where({ id: ada.user.id })
  await users.clone().update({ frozen_at: new Date(), frozen_reason: 'test' })
  t.is(await press(token), 'account_frozen')
  await users.clone().update({ frozen_at: null, frozen_reason: null })
  // It freezes while the link is being read.
  const freezing = await db.transaction()
  await freezing('users').where({ id: ada.user.id }).update({ frozen_at: new Date(), frozen_reason: 'test' })
  const pressed = press(token)
  await until('it waits for the account', async () => {
    const { rows } = await db.raw(
      `select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%for share%' and datname = current_database()`,
    )
    return rows.length > 0
  })
  await freezing.commit()
  t.is(await pressed, 'account_frozen')
  t.is((await readWithdrawalRow(world(), reference)).send_state, 'confirmation_hold')
  await users.clone().update({ frozen_at: null, frozen_reason: null })
  await db('sessions').where({ user_id: ada.user.id }).delete()
  await db('one_time_secrets')
    .where({ purpose: 'withdrawal' })
    .update({ expires_at: new Date(0) })
  t.is(await press(token), 200, 'read late')
  t.is(await press(token), 200, 'a double press')
  await sendDuePayouts(world())
  t.is(countExecutions(world(), reference), 1)
  t.is(countExecutions(world(), other.reference), 0)
  const voiding = ['--apply', `--confirm=${other.reference}`, '--reason', 'a thief']
  t.is((await runOpsScript(world(), 'payouts', 'void', other.reference, ...voiding)).code, 0)
  t.is(await press(other.token), 'invalid_link')
})

test.serial('identity comes first; a confirmation given meanwhile is remembered', async (t) => {
  const ada = await creatorWhoWithdrew(1000)
  const held = await createHeld(ada, { amountUSDC: 200 })
  const other = await createHeld(ada, { amountUSDC: 200, accountNumber: '1111111111' })
  t.like(held, { heldFor: 'identity', requiresVerification: true })
  const code = await mailedCode(ada.email, held.reference)
  const confirmed = await act(ada, held.reference, 'confirm', { code })
  t.like(confirmed.body, { status: 'pending', heldFor: 'identity' })
  await sendDuePayouts(world())
  t.is(countExecutions(world(), held.reference), 0)

  const verify = (...args: string[]) => runOpsScript(world(), 'verify-identity', '--user', ada.email, ...args)
  const plan = await verify()
  t.regex(plan.out, new RegExp(`${held.reference}  NGN 316,800.00  would be sent`))
  t.regex(
    plan.out,
    new RegExp(`${other.reference}  NGN 316,800.00  would be held until its creator confirms it`),
  )
  const release = await runOpsScript(world(), 'payouts', 'release', other.reference)
  t.regex(release.out, /would have it wait for the confirmation of its creator, without a verified identity/)
  t.is((await verify('--apply', `--confirm=${ada.user.id}`, '--reason', 'passport seen')).code, 0)
  await sendDuePayouts(world())
  t.is(countExecutions(world(), held.reference), 1)
  t.is(countExecutions(world(), other.reference), 0)
  t.like((await listHistory(world(), ada))[0], {
    reference: other.reference,
    heldFor: 'confirmation',
    requiresVerification: false,
  })
  t.regex(
    (await verify()).out,
    new RegExp(`${other.reference}  NGN 316,800.00  waits until its creator confirms it`),
  )

  // The rate falls while it is held: its release prices it again.
  world().fiat.rates.set({ NGN: 1500 })
  t.teardown(async () => {
    world().fiat.rates.reset()
    await world().db.raw(`update rates set accepted_at = 'epoch' where value <> 1600`)
  })
  await new ExchangeRates(world().services).refresh()
  t.is(
    (await mailsTo(ada.email)).filter((kind) => kind === 'withdrawal-code').length,
    3,
    'a new code at the release',
  )
  const sent = await act(ada, other.reference, 'confirm', {
    code: await mailedCode(ada.email, other.reference),
  })
  t.is(sent.status, 200)
  t.like(sent.body, { amountNGN: 297_000, promisedNGN: 316_800, heldFor: null })
  await sendDuePayouts(world())
  t.is(countExecutions(world(), other.reference), 1)
  const late = await act(ada, other.reference, 'cancel')
  t.is(late.status, 409)
  t.is(late.body.error, 'Withdrawal already sent')
})

test.serial('of a hundred confirmations, cancellations and verifications one thing comes out', async (t) => {
  t.timeout(120_000)
  for (const round of [1, 2, 3, 4]) {
    const ada = await creatorWhoWithdrew(200)
    const { reference } = await createHeld(ada, { amountUSDC: 200 })
    const code = await mailedCode(ada.email, reference)
    const { transact, config } = world().services
    const acts = Array.from({ length: 25 }, async (_, index) => {
      const kind = (index + round) % 4
      if (kind === 0) return act(ada, reference, 'confirm', { code })
      if (kind === 1) return act(ada, reference, 'cancel')
      if (kind === 2) return transact((uow) => verifyIdentity(uow, config, ada.user.id, new Map()))
      return sendDuePayouts(world())
    })
    await Promise.all(acts)
    await sendDuePayouts(world())
    const { status } = await readWithdrawalRow(world(), reference)
    const executed = countExecutions(world(), reference)
    const { availableUSDC } = await readBalance(world(), ada)
    const outcome = [status, executed, availableUSDC]
    t.true(
      [
        ['submitted', 1, 0],
        ['failed', 0, 200],
      ].some((one) => one.join() === outcome.join()),
      outcome.join(),
    )
    const mails = await mailsTo(ada.email)
    t.is(mails.filter((kind) => kind === 'withdrawal-cancelled').length, status === 'failed' ? 1 : 0)
  }
})

test.serial('a new code replaces the one before, and an account gets ten in a day', async (t) => {
  const ada = await creatorWhoWithdrew(40)
  const eve = await creatorWithBalance(world(), 0)
  const { reference } = await createHeld(ada)
  const first = await mailedCode(ada.email, reference)
  for (const what of ['confirm', 'confirm/resend', 'cancel'])
    t.is((await act(eve, reference, what, { code: first })).body.error, 'Withdrawal not found')
  t.is((await act(ada, reference, 'confirm/resend')).status, 200)
  let second = first
  await until('another code arrives', async () => {
    second = await mailedCode(ada.email, reference)
    return second !== first
  })
  t.is((await act(ada, reference, 'confirm', { code: first })).status, 400)
  await setRows(world(), 'one_time_secrets', { purpose: 'withdrawal' }, { expires_at: new Date(0) })
  t.is((await act(ada, reference, 'confirm', { code: second })).status, 400, 'too old')
  const more = []
  for (let count = 2; count < 11; count++) more.push((await act(ada, reference, 'confirm/resend')).status)
  t.deepEqual(more, [...Array(8).fill(200), 429])
  const { headers } = await act(ada, reference, 'confirm/resend')
  t.true(Number(headers['retry-after']) > 80_000, 'when the first of them is a day old')
  const account = { accountNumber: '1111111111' }
  const { availableUSDC } = await readBalance(world(), ada)
  const refused = await requestWithdrawal<{ code: string }>(world(), ada, { amountUSDC: 10, ...account })
  t.is(`${refused.status} ${refused.body.code}`, '429 too_many_requests', 'no code could be mailed')
  t.true(Number(refused.headers['retry-after']) > 80_000)
  t.is((await readBalance(world(), ada)).availableUSDC, availableUSDC, 'nothing is held')
  // An old factor confirms it without a code.
  await world()
    .db('passkeys')
    .insert({
      user_id: ada.user.id,
      credential_id: randomBytes(16),
      public_key: 'x',
      label: 'x',
      created_at: new Date(0),
    })
  const unmailed = await createHeld(ada, account)
  t.is(unmailed.heldFor, 'confirmation')
  await world()
    .db('one_time_secrets')
    .where({ purpose: 'withdrawal' })
    .update({
      created_at: new Date(Date.now() - 25 * 3_600_000),
      expires_at: new Date(Date.now() - 24.8 * 3_600_000),
    })
  t.is((await act(ada, unmailed.reference, 'confirm/resend')).status, 200)
  await deleteExpired(as('clock', world().services))
  t.is(
    (await world().db('one_time_secrets').where({ user_id: ada.user.id, purpose: 'withdrawal' })).length,
    1,
    'old ones are deleted',
  )
  const code = await mailedCode(ada.email, unmailed.reference)
  for (const _ of [1, 2]) t.is((await act(ada, unmailed.reference, 'confirm', { code })).status, 200)
  // Certainly not sent yet: it can still be cancelled.
  t.like((await act(ada, unmailed.reference, 'cancel')).body, { status: 'failed' })
  t.is((await act(ada, reference, 'confirm', { code })).status, 400, 'the code of another withdrawal')
})

test.serial('operators see what waits for a confirmation, and may void it but not send it', async (t) => {
  const ada = await creatorWhoWithdrew(40)
  const { reference } = await createHeld(ada)
  const payouts = (...args: string[]) => runOpsScript(world(), 'payouts', ...args)
  t.regex((await payouts('list', '--state', 'confirmation_hold')).out, new RegExp(reference))
  const cases = await listOpenCases(world().db)
  t.true((cases.find(({ what }) => /creators' confirmation/.test(what))?.count ?? 0) > 0)
  for (const what of ['release', 'replay'])
    t.regex((await payouts(what, reference)).err, /not done: it waits for the confirmation of its creator/)
  const voided = await payouts('void', reference, '--apply', `--confirm=${reference}`, '--reason', 'a thief')
  t.is(voided.code, 0)
  t.is((await readBalance(world(), ada)).availableUSDC, 40)
})

test.serial('nothing of a frozen account is sent or asked for, until it is unfrozen', async (t) => {
  const ada = await creatorWhoWithdrew(40)
  const { reference } = await createWithdrawal(world(), ada, { amountUSDC: 10 })
  const held = await createHeld(ada)
  const freeze = (at: Date | null) =>
    setRows(world(), 'users', { id: ada.user.id }, { frozen_at: at, frozen_reason: at && 'test' })
  await freeze(new Date())
  await sendDuePayouts(world())
  t.is(countExecutions(world(), reference), 0)
  t.like(await readWithdrawalRow(world(), reference), { status: 'pending', send_state: 'not_sent' })
  const cases = await listOpenCases(world().db)
  t.is(cases.find(({ what }) => /frozen/.test(what))?.count, 1)
  t.is((await countWork(world().db)).find(({ kind }) => kind === 'payouts')?.due, 0, 'no standstill')
  for (const what of ['confirm', 'cancel', 'confirm/resend'])
    t.is((await act(ada, held.reference, what)).body.error, 'Account frozen')
  t.is(
    (await requestWithdrawal<{ error?: string }>(world(), ada, { amountUSDC: 1 })).body.error,
    'Account frozen',
  )
  await freeze(null)
  await sendDuePayouts(world())
  t.is(countExecutions(world(), reference), 1)
})

test.serial('a request held back until its session has ended changes nothing', async (t) => {
  const ada = await creatorWithBalance(world(), 50)
  const { session, user, password } = ada
  const { db, request, url } = world()
  const short = await paidTip(world(), ada, { kobo: 500_000 })
  await db('users').where({ id: user.id }).update({ email_verified_at: new Date() })
  const made = await request<{ options: CreationOptions }>('POST', '/auth/passkeys/options', {
    session,
    body: {},
  })
  const app = await request<{ secret: string }>('POST', '/auth/totp', { session, body: {} })
  const sessions = () => db('sessions').where({ user_id: user.id })
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  /** Sends all but the last byte, and waits until the guard has seen the session: it moves the idle limit. */
  async function hold([method, path, body, key]: readonly [string, string, object, string?]) {
    const soon = new Date(Date.now() + 3_600_000)
    await sessions().update({ idle_until: soon })
    const headers = {
      cookie: `session=${session}`,
      'content-type': 'application/json',
      ...(key === undefined ? {} : { 'idempotency-key': key }),
    }
    const answer = requestRaw(url, method, path, headers, JSON.stringify(body), held)
    await until('the guard has run', async () => (await sessions().first()).idle_until > soon)
    return { what: `${method} ${path}`, answer }
  }
  const requests = [
    ['POST', '/auth/passkeys', { response: new Authenticator().create(made.body.options) }],
    ['POST', '/auth/totp/confirm', { code: totpCode(decodeBase32(app.body.secret)) }],
    ['POST', '/creators/api-keys', { label: 'thief' }],
    ['PATCH', '/creators/me', { name: 'Thief' }],
    ['PUT', '/creators/domains', { domains: ['thief.example'] }],
    ['PUT', '/auth/tip-mails', { tipMails: 'daily' }],
    ['DELETE', '/auth/sessions', {}],
    ['POST', `/creators/tips/${short}/accept-short`, {}],
    ['POST', `/creators/tips/${short}/give-back`, {}],
    ['POST', '/payouts/withdraw', { ...bank, amountUSDC: 10 }],
    ['POST', '/payouts/withdraw', { ...bank, amountUSDC: 10 }, 'a key'],
  ] as const
  const started: Awaited<ReturnType<typeof hold>>[] = []
  for (const one of requests) started.push(await hold(one))

  const own = await request('POST', '/auth/login', { body: { email: ada.email, password } })
  const [{ id }] = await sessions().orderBy('created_at').limit(1)
  t.is((await request('DELETE', `/auth/sessions/${id}`, { session: own.session })).status, 200)
  release()
  for (const { what, answer } of started) t.is((await answer).status, 401, what)
  const rows = async (table: string) => (await db(table).where({ user_id: user.id })).length
  for (const table of ['passkeys', 'api_keys', 'withdrawals', 'recovery_codes', 'payees'])
    t.is(await rows(table), 0, table)
  t.is((await db('totp_factors').where({ user_id: user.id }).first()).confirmed_at, null)
  t.deepEqual(
    await db('suspense_items as s')
      .join('fiat_payments as p', 'p.provider_transaction', 's.provider_transaction')
      .where({ intent_id: short })
      .pluck('s.state'),
    ['waiting'],
  )
  const { name, tip_mails: tipMails } = await db('users').where({ id: user.id }).first()
  t.deepEqual([name, tipMails], [user.name, 'each'])
  t.deepEqual(await readBalance(world(), { ...ada, session: own.session ?? '' }), {
    availableUSDC: 50,
    heldUSDC: 0,
  })
})
