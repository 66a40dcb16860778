import test from 'ava'
import { mailText, type QueuedEmail } from '../../scripts/kit/mail-text.js'
import { createApiKey, findKeyOwner } from '../../src/creators/api-keys.js'
import { listOpenCases } from '../../src/operators/open-cases.js'
import { createVerifierBatch } from '../../src/tips/verify-tips.js'
import { createEndpoint } from '../../src/webhooks/manage-endpoints.js'
import { watchEndpoints } from '../../src/webhooks/watch-endpoints.js'
import {
  type EnteredBody,
  freshEmail,
  type Person,
  proveEmailOf,
  registerCreator,
  registerPerson,
} from '../helpers/make/creators.js'
import { paidTip, requestRefund, workOnRefunds } from '../helpers/make/fiat/refunds.js'
import { makeTipsDue } from '../helpers/make/intents.js'
import { payOnChain } from '../helpers/make/landed-tips.js'
import { addTotp, ageFactors } from '../helpers/make/sign-in/factors.js'
import { readTipRow, recordTip, runBatchUntil } from '../helpers/make/tips.js'
import { bank, createWithdrawal, creatorWithBalance, sendDuePayouts } from '../helpers/make/withdrawals.js'
import { runOpsScript } from '../helpers/run-ops-script.js'
import { as } from '../helpers/servers/roles.js'
import { setRows, useWorld } from '../helpers/servers/world.js'

const world = useWorld(test, {
  chain: true,
  fiat: true,
  env: { CONFIRM_ACCOUNTS: 'new' },
})

const ops = (name: 'freeze-account' | 'unfreeze', ...args: string[]) => runOpsScript(world(), name, ...args)
const notMe = (body: unknown, headers = {}) => world().request('POST', '/auth/not-me', { body, headers })
async function provenPerson(): Promise<Person> {
  const person = await registerPerson(world())
  await proveEmailOf(world(), person)
  return person
}
const logIn = ({ email, password }: Person, userAgent = 'Test/1') =>
  world().request<EnteredBody>('POST', '/auth/login', {
    body: { email, password },
    headers: { 'user-agent': userAgent },
  })

interface StoredMail extends QueuedEmail {
  readonly kind: string
}
const mailsTo = (email: string): Promise<StoredMail[]> =>
  world().db('emails').where({ recipient: email }).orderBy('created_at')
const kindsTo = async (email: string) => (await mailsTo(email)).map(({ kind }) => kind)

/** The token of the newest mail that has a link which freezes the account. */
async function notMeToken(email: string): Promise<string> {
  const texts = (await mailsTo(email)).map((mail) => /#not-me=([\w-]{43})/.exec(mailText(mail))?.[1])
  return texts.filter((token) => token !== undefined).at(-1) ?? ''
}
/** A mail with such a link: somebody signs in with a new browser. */
async function alarm(person: Person): Promise<string> {
  await logIn(person, `Thief/${freshEmail()}`)
  return notMeToken(person.email)
}
const userRow = ({ user }: Person) => world().db('users').where({ id: user.id }).first()
const auditOf = ({ user }: Person) =>
  world()
    .db('audit_log')
    .where({ subject: `user:${user.id}` })
    .orderBy('id')

const changes: readonly [method: string, path: string, body?: unknown][] = [
  ['PATCH', '/creators/me', { name: 'Somebody Else' }],
  ['POST', '/creators/domain-challenge', { solDomain: 'ada.sol' }],
  ['POST', '/creators/api-keys', {}],
  ['PATCH', '/creators/webhooks/00000000-0000-4000-8000-000000000000', { status: 'active' }],
  ['PUT', '/creators/domains', { domains: ['thief.example'] }],
  ['POST', '/creators/bank-accounts/resolve', bank],
  ['POST', '/payouts/withdraw', { amountUSDC: 1, ...bank }],
  ['PUT', '/auth/tip-mails', { tipMails: 'each' }],
]

test('the button freezes without signing in, ends every session and access token, and tells the owner once', async (t) => {
  const ada = await provenPerson()
  const thief = (await logIn(ada, 'Thief/1')).body.auth.accessToken
  const token = await notMeToken(ada.email)
  t.is((await notMe({ token })).status, 200)
  for (const credential of [{ session: ada.session }, { bearer: ada.accessToken }, { bearer: thief }])
    t.is((await world().request('GET', '/auth/me', credential)).status, 401)
  t.is((await userRow(ada)).frozen_reason, 'The owner pressed "This was not me"')
  t.is((await notMe({ token })).status, 200, 'a frightened owner presses twice')
  t.deepEqual(await kindsTo(ada.email), ['new-device', 'account-frozen'])
  t.false(mailText((await mailsTo(ada.email))[1]).includes('#not-me='))
})

test('of ten presses at the same time one mails, and all are answered', async (t) => {
  const ada = await provenPerson()
  const token = await alarm(ada)
  const answers = await Promise.all(Array.from({ length: 10 }, () => notMe({ token })))
  t.deepEqual([...new Set(answers.map(({ status }) => status))], [200])
  t.is((await kindsTo(ada.email)).filter((kind) => kind === 'account-frozen').length, 1)
})

test('a link that is unknown, too old, missing or sent by another site freezes nothing', async (t) => {
  const ada = await provenPerson()
  const token = await alarm(ada)
  t.is((await notMe({})).body.error, 'token is required')
  t.is((await notMe({ token: 'x'.repeat(43) })).body.error, 'Invalid or expired link')
  t.is((await notMe({ token }, { origin: 'https://evil.example' })).status, 403)
  await setRows(world(), 'one_time_secrets', { user_id: ada.user.id }, { expires_at: new Date(0) })
  t.is((await notMe({ token })).body.error, 'Invalid or expired link')
  t.is((await userRow(ada)).frozen_at, null)
})

test('frozen: signing in, reading and logging out work, every change answers Account frozen', async (t) => {
  const ada = await provenPerson()
  await notMe({ token: await alarm(ada) })
  const { session } = await logIn(ada)
  for (const path of [
    '/auth/me',
    '/creators/me',
    '/creators/balance',
    '/creators/api-keys',
    '/payouts/history',
  ])
    t.is((await world().request('GET', path, { session })).status, 200, path)
  for (const [method, path, body] of changes) {
    const answer = await world().request(method, path, { session, body })
    t.is(answer.status, 403, path)
    t.is(answer.body.error, 'Account frozen', path)
  }
  t.is((await world().request('POST', '/auth/logout', { session })).status, 200)
})

/** An API key and a webhook, made so many hours ago. */
async function makeAccess({ user }: Person, hoursAgo = 0) {
  const { services } = world()
  const { id: keyId, apiKey } = await createApiKey(services, user.id, undefined)
  const url = 'https://hooks.example/tips'
  const { endpoint } = await createEndpoint(services, user.id, { url, types: [] })
  const at = new Date(Date.now() - hoursAgo * 3_600_000)
  await setRows(world(), 'api_keys', { id: keyId }, { created_at: at })
  await setRows(world(), 'webhook_endpoints', { id: endpoint.id }, { created_at: at, pointed_at: at })
  return { keyId, apiKey, webhook: endpoint.id }
}
type Access = Awaited<ReturnType<typeof makeAccess>>
const disabledBy = async ({ webhook }: Access) =>
  (await world().db('webhook_endpoints').where({ id: webhook }).first('disabled')).disabled

test('frozen: the owner ends API keys and webhooks', async (t) => {
  const ada = await provenPerson()
  const { keyId, apiKey, webhook } = await makeAccess(ada, 100)
  await notMe({ token: await alarm(ada) })
  const { session } = await logIn(ada)
  for (const path of [`/creators/api-keys/${keyId}`, `/creators/webhooks/${webhook}`])
    t.is((await world().request('DELETE', path, { session })).status, 200, path)
  t.is(await findKeyOwner(world().services, apiKey), undefined)
  t.deepEqual(await world().db('webhook_endpoints').where({ id: webhook }), [])
})

test('API keys and webhooks of the three days before the freeze stop with it and stay void, older ones go on', async (t) => {
  const [ada, ben] = [await provenPerson(), await provenPerson()]
  const [young, old, atOnce] = [await makeAccess(ada), await makeAccess(ada, 73), await makeAccess(ben)]
  const { user, email } = ada
  for (const person of [ada, ben])
    await ops('freeze-account', '--user', person.email, '--reason', 'theft', '--apply')
  await ops('unfreeze', '--user', ben.email, '--reason', 'seen', '--apply')
  t.is(await disabledBy(atOnce), 'void', 'no clock has run meanwhile')
  t.is(await findKeyOwner(world().services, atOnce.apiKey), undefined)
  const watch = () => watchEndpoints(as('clock', world().services))
  const assertYoungEnded = async (when: string) => {
    t.is(await findKeyOwner(world().services, young.apiKey), undefined, when)
    t.is(await findKeyOwner(world().services, old.apiKey), user.id, when)
    t.deepEqual([await disabledBy(young), await disabledBy(old)], ['void', null], when)
  }
  await watch()
  await assertYoungEnded('frozen')
  const { out } = await ops('unfreeze', '--user', email)
  t.regex(
    out,
    /^API keys that are revoked and webhooks that are disabled: 2\n {2}API key [0-9a-f]{16}, since 20/m,
  )
  t.regex(out, /^ {2}webhook https:\/\/hooks[.]example\/tips, since 20/m)
  await ops('unfreeze', '--user', email, '--reason', 'seen', '--apply')
  await watch()
  await assertYoungEnded('unfrozen')
  const { session } = await logIn(ada)
  const enabled = await world().request('PATCH', `/creators/webhooks/${young.webhook}`, {
    session,
    body: { status: 'active' },
  })
  t.is(enabled.status, 200)
  await watch()
  t.is(await disabledBy(young), null, 'the owner knows it')
})

test('frozen: a tip still arrives', async (t) => {
  const ada = await registerCreator(world())
  await proveEmailOf(world(), ada)
  await notMe({ token: await alarm(ada) })
  const claim = payOnChain(world().sandbox, ada.wallet)
  await recordTip(world(), { ...claim })
  const batch = createVerifierBatch(as('verifier', world().services))
  await runBatchUntil(batch, 'the tip is confirmed', async () => {
    await makeTipsDue(world())
    return (await readTipRow(world(), claim.txSignature)).status === 'confirmed'
  })
  t.like(await readTipRow(world(), claim.txSignature), { status: 'confirmed' })
})

test('freeze-account plans, acts once for two operators, and writes one line of the audit log', async (t) => {
  const ada = await provenPerson()
  const plan = await ops('freeze-account', '--user', ada.email)
  t.is(plan.out, `${ada.email} (${ada.user.id}): not frozen yet; add --apply to do it\n`)
  t.is((await userRow(ada)).frozen_at, null)
  t.is((await ops('freeze-account', '--user', ada.email, '--apply')).code, 2, '--reason is missing')
  t.is((await ops('freeze-account', '--user', 'nobody@example.com')).code, 1)
  const both = await Promise.all(
    ['Ngozi', 'Olu'].map((as) =>
      ops('freeze-account', '--user', ada.user.id, '--apply', '--reason', 'she called', '--as', as, '--json'),
    ),
  )
  t.deepEqual(both.map(({ out }) => JSON.parse(out).applied).toSorted(), [false, true])
  t.is((await world().request('GET', '/auth/me', { session: ada.session })).status, 401)
  const [line, ...others] = await auditOf(ada)
  t.like(line, { action: 'freeze-account', details: { reason: 'she called' } })
  t.deepEqual(others, [])
  t.deepEqual(await kindsTo(ada.email), ['account-frozen'])
  t.regex(
    (await ops('freeze-account', '--user', ada.email, '--apply', '--reason', 'again')).out,
    /nothing to do/,
  )
})

test('a subject runs its verbs as their older names do, and says which it has', async (t) => {
  const ada = await registerPerson(world())
  const args = ['--user', ada.email, '--json']
  const subject = await runOpsScript(world(), 'accounts', 'freeze', ...args)
  t.deepEqual(subject, await ops('freeze-account', ...args))
  const unknown = await runOpsScript(world(), 'accounts', 'freez', '--json')
  t.is(unknown.code, 2)
  t.regex(unknown.out, /"error":"unknown command freez[.] Did you mean freeze/)
  const help = await runOpsScript(world(), 'accounts', '--help')
  t.regex(help.out, /npm run ops -- accounts unfreeze --user/)
  t.is((await runOpsScript(world(), 'accounts')).code, 2)
})

test('unfreeze ends all sessions, voids the links of older mails, tells the owner, and changes work again', async (t) => {
  const ada = await provenPerson()
  const [used, unused] = [await alarm(ada), await alarm(ada)]
  await notMe({ token: used })
  const meanwhile = await logIn(ada)
  t.regex((await ops('unfreeze')).out, new RegExp(`${ada.email} \\(${ada.user.id}\\) is frozen since`))
  const unfreeze = () =>
    ops('unfreeze', '--user', ada.email, '--apply', '--void-password', '--reason', 'spoke to her')
  t.regex((await ops('unfreeze', '--user', ada.email)).out, /not unfrozen yet; add --apply to do it/)
  const both = await Promise.all([unfreeze(), unfreeze()])
  t.deepEqual(
    both.map(({ code }) => code),
    [0, 0],
  )
  t.deepEqual(
    (await auditOf(ada)).map(({ action }) => action),
    ['unfreeze'],
  )
  t.is((await world().request('GET', '/auth/me', { session: meanwhile.session })).status, 401)
  for (const token of [used, unused]) t.is((await notMe({ token })).body.error, 'Invalid or expired link')
  const [mail, reset] = (await mailsTo(ada.email)).slice(-2)
  t.deepEqual([mail?.kind, reset?.kind], ['account-unfrozen', 'password-reset'])
  t.regex(mailText(mail), /set a new one/)
  t.is((await logIn(ada)).status, 401, 'a thief may know the password')
  const token = /#reset-password=([\w-]{43})/.exec(mailText(reset))?.[1]
  const newPassword = 'purple kettle by the sea'
  const confirmed = await world().request('POST', '/auth/password/reset/confirm', {
    body: { token, newPassword },
  })
  t.is(confirmed.status, 200)
  const { session } = await logIn({ ...ada, password: newPassword })
  const body = { name: 'Ada Obi' }
  t.is((await world().request('PATCH', '/creators/me', { session, body })).status, 200)
  t.regex((await unfreeze()).out, /is not frozen: nothing to do/)
})

test('unfreeze removes the factors that were added in the three days before the freeze, and keeps older ones', async (t) => {
  const [ada, ben] = [await provenPerson(), await provenPerson()]
  for (const person of [ada, ben]) await addTotp(world(), person)
  await ageFactors(world(), ben, 73)
  for (const { email } of [ada, ben]) {
    await ops('freeze-account', '--user', email, '--reason', 'theft', '--apply')
    await ops('unfreeze', '--user', email, '--reason', 'seen', '--apply')
  }
  const factorsOf = ({ user }: Person) => world().db('totp_factors').where({ user_id: user.id })
  t.deepEqual([(await factorsOf(ada)).length, (await factorsOf(ben)).length], [0, 1])
})

test('within three days of a change of e-mail the old address learns of freezing too', async (t) => {
  const ada = await provenPerson()
  const old = freshEmail()
  const undoUntil = new Date(Date.now() + 3_600_000)
  await world()
    .db('email_changes')
    .insert({ user_id: ada.user.id, old_email: old, new_email: ada.email, undo_until: undoUntil })
  await ops('freeze-account', '--user', ada.email, '--apply', '--reason', 'x')
  t.deepEqual([await kindsTo(old), await kindsTo(ada.email)], [['account-frozen'], ['account-frozen']])
})

test('a thief’s browser is new again after the freeze', async (t) => {
  const ada = await provenPerson()
  const token = await alarm(ada)
  await notMe({ token })
  await logIn(ada, 'Thief/2')
  t.deepEqual(await kindsTo(ada.email), ['new-device', 'account-frozen', 'new-device'])
})

test('unfreeze lists what would be sent, and refuses until it is void or --send-waiting is given', async (t) => {
  const ada = await creatorWithBalance(world(), 30)
  await createWithdrawal(world(), ada, { amountUSDC: 5 })
  await sendDuePayouts(world())
  const held = await createWithdrawal(world(), ada, { amountUSDC: 5, accountNumber: '9876543210' })
  const { reference } = await createWithdrawal(world(), ada, { amountUSDC: 10 })
  await ops('freeze-account', '--user', ada.email, '--apply', '--reason', 'theft')
  const line = new RegExp(
    `${reference}  NGN [\\d,.]+ to .+ \\*{6}6789, since 20\\S+, sent at once after unfreezing`,
  )
  const { out } = await ops('unfreeze', '--user', ada.email)
  t.regex(out, line)
  t.regex(out, /withdrawals and refunds that were not sent yet: 2$/m)
  t.regex(out, new RegExp(`${held.reference} .+ \\*{6}3210, since .+, not sent before the owner confirms it`))
  const unfreeze = (...more: string[]) =>
    ops('unfreeze', '--user', ada.email, '--apply', '--reason', 'spoke to her', ...more)
  const refused = await unfreeze()
  t.is(refused.code, 1)
  t.regex(refused.err, line)
  t.not((await userRow(ada)).frozen_at, null)
  t.is((await unfreeze('--send-waiting')).code, 0)
  t.is((await userRow(ada)).frozen_at, null)
})

// First, alone: it counts all frozen rows.
test.serial(
  'a refund that a thief asked for is listed too: it is given back, or sent with --send-waiting',
  async (t) => {
    const ada = await registerCreator(world())
    const tipId = await paidTip(world(), ada)
    const countFrozen = async () =>
      (await listOpenCases(world().db)).find(({ id }) => id === 'frozen_outgoing')?.count ?? 0
    const before = await countFrozen()
    await requestRefund(world(), ada, tipId, 4)
    await requestRefund(world(), ada, tipId, 2)
    await ops('freeze-account', '--user', ada.email, '--apply', '--reason', 'theft')
    await workOnRefunds(world())
    t.is((await countFrozen()) - before, 2)
    const [{ id }, { id: wanted }] = await world()
      .db('refunds')
      .where({ intent_id: tipId })
      .orderBy('created_at')
    const unfreeze = (...more: string[]) =>
      ops('unfreeze', '--user', ada.email, '--apply', '--reason', 'spoke to her', ...more)
    const refused = await unfreeze()
    t.is(refused.code, 1, refused.out)
    t.regex(
      refused.err,
      new RegExp(`${id}  NGN [\\d,.]+ back to the payer of a tip, since 20\\S+, sent at once after`),
    )
    t.not((await userRow(ada)).frozen_at, null)
    const giveBack = ['--give-back', id, '--apply', `--confirm=${id}`, '--reason', 'she did not ask for it']
    const given = await runOpsScript(world(), 'refunds', ...giveBack)
    t.is(given.code, 0, given.err)
    const sent = await unfreeze('--send-waiting')
    t.is(sent.code, 0, sent.err)
    t.regex(sent.out, new RegExp(`refunds that were not sent yet: 1\\n  ${wanted} `))
    t.is((await userRow(ada)).frozen_at, null)
    t.is(await countFrozen(), before)
  },
)
