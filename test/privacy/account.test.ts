import test from 'ava'
import { Redis } from 'ioredis'
import { mailText } from '../../scripts/kit/mail-text.js'
import { creatorSettings } from '../../src/creators/settings.js'
import { platformAccount, transferEntries, userAccount } from '../../src/ledger/accounts.js'
import { checkBooks } from '../../src/ledger/invariants.js'
import { credit } from '../../src/ledger/transfers.js'
import { listOpenCases } from '../../src/operators/open-cases.js'
import { assertNoTokens } from '../../src/privacy/close-account.js'
import { makeExports } from '../../src/privacy/exports/make-exports.js'
import {
  deleteExpiredExports,
  requestExport as requestDataExport,
} from '../../src/privacy/exports/request-export.js'
import { confirmTips } from '../../src/tips/confirm/confirm-tips.js'
import { countAlerts } from '../helpers/alerts-and-mails.js'
import { someConfirmation, storePendingTips } from '../helpers/make/confirmed-tips.js'
import { registerCreator, registerPerson, type TestCreator } from '../helpers/make/creators.js'
import {
  createFiatIntent,
  expireFiatIntent,
  payFiatIntent,
  settleIntentNow,
} from '../helpers/make/fiat/fiat-tips.js'
import { createSession } from '../helpers/make/sdk.js'
import { deliverEmail } from '../helpers/make/sign-in/emailed-codes.js'
import { unusedWallet } from '../helpers/make/supporter.js'
import { listTips } from '../helpers/make/tips.js'
import { creatorWithBalance, requestWithdrawal } from '../helpers/make/withdrawals.js'
import { runOpsScript } from '../helpers/run-ops-script.js'
import { dumpTables } from '../helpers/servers/dump-tables.js'
import { as } from '../helpers/servers/roles.js'
import { useWorld } from '../helpers/servers/world.js'
import { until } from '../helpers/until.js'
import { columns, exportedValues, forgottenValues, jsonFields, listedIn } from './personal-columns.js'

const world = useWorld(test, { fiat: true, mail: true, env: { IDENTITY_SINGLE_NGN: '1000' } })

interface Owner {
  readonly session: string
  readonly password: string
}

interface Refused {
  readonly error: string
  readonly code: string
  readonly details?: readonly { readonly field: string; readonly problem: string }[]
}

/** The world has no chain, so nobody knows which tokens a wallet holds. */
const close = ({ session, password }: Owner, body: Record<string, unknown> = {}) =>
  world().request<Refused>('DELETE', '/auth/me', {
    session,
    body: { password, leaveTokens: true, ...body },
  })
/** Of an account without a password, in the session that a code has opened. */
const byMail = { password: undefined }
const voidPassword = (id: string) => world().db('users').where({ id }).update({ password_hash: null })
const requestExport = ({ session }: Pick<Owner, 'session'>) =>
  world().request<{ export: { status: string; requestedAt: string; expiresAt: string | null } }>(
    'GET',
    '/auth/export',
    { session },
  )
const userRow = (id: string) => world().db('users').where({ id }).first()

async function ageSessions(userId: string, minutes: number): Promise<void> {
  await world().db.raw(`update sessions set created_at = now() - ? * interval '1 minute' where user_id = ?`, [
    minutes,
    userId,
  ])
}

/** Gives a creator something of everything that is stored about one. */
async function fillAccount(
  creator: TestCreator,
): Promise<{ readonly apiKey: string; readonly sessionToken: string }> {
  const { db, request } = world()
  const { session, user } = creator
  const key = await request<{ apiKey: string }>('POST', '/creators/api-keys', {
    session,
    body: { label: 'shop' },
  })
  await request('PATCH', '/creators/page', {
    session,
    body: {
      handle: `h${user.id.slice(0, 8)}`,
      words: 'qjw-words',
      thanks: 'qjw-thanks',
      links: [{ title: 'qjw-title', url: 'https://qjw.example/' }],
      goal: { title: 'qjw-goal', amountUsd: 50 },
    },
  })
  await request('PUT', '/creators/domains', { session, body: { domains: ['shop.example'] } })
  await request('POST', '/creators/webhooks', {
    session,
    body: { url: 'https://8.8.8.8/', description: 'my shop' },
  })
  await request('PATCH', '/creators/overlay', { session, body: { filter: ['spoiler'] } })
  await request('POST', '/creators/domain-challenge', { session, body: { solDomain: 'ada.sol' } })
  await db('users')
    .where({ id: user.id })
    .update({ twitter_handle: `t${user.id.slice(0, 8)}` })
  const { sessionToken } = await createSession(world(), {
    ...creator,
    id: user.id,
    apiKey: key.body.apiKey,
    keyId: '',
  })
  const factor = { user_id: user.id, created_at: new Date(Date.now() - 100 * 3_600_000) }
  await db('passkeys').insert({
    ...factor,
    credential_id: Buffer.from(user.id),
    public_key: Buffer.from('zqx-public-key'),
    label: 'phone',
  })
  await db('recovery_codes').insert({ user_id: user.id, code_hmac: Buffer.alloc(32, 5) })
  await db('payout_wallets').insert({ user_id: user.id, wallet: unusedWallet(), takes_tips: true })
  const secret = { user_id: user.id, hash: Buffer.alloc(32, 7), expires_at: new Date() }
  await db('one_time_secrets').insert([
    { ...secret, purpose: 'payout_wallet', subject: unusedWallet(), content: 'zqx-message' },
    { ...secret, purpose: 'step_up', subject: 'zqx-request' },
  ])
  await db('code_attempts').insert({ user_id: user.id, kind: 'totp', failed_at: [new Date()] })
  await db('audit_log').insert({
    actor: 'zqx-operator',
    action: 'link-handle',
    subject: `user:${user.id}`,
    details: JSON.stringify({ note: 'zqx-note' }),
  })
  return { apiKey: key.body.apiKey, sessionToken }
}

/** What becomes of the rows of each table that names a user when the account is closed. */
const tables: Readonly<Record<string, 'deleted' | 'stays'>> = {
  access_tokens: 'deleted',
  api_keys: 'deleted',
  code_attempts: 'deleted',
  creator_domains: 'deleted',
  creator_pages: 'deleted',
  custody: 'stays',
  data_exports: 'deleted',
  devices: 'deleted',
  email_changes: 'deleted',
  event_counters: 'deleted',
  events: 'deleted',
  fiat_intents: 'stays',
  ledger_accounts: 'stays',
  one_time_secrets: 'deleted',
  overlay_pictures: 'deleted',
  overlays: 'deleted',
  page_handles: 'deleted',
  parties: 'stays',
  passkeys: 'deleted',
  payees: 'deleted',
  payout_wallets: 'deleted',
  receivables: 'stays',
  recovery_codes: 'deleted',
  refunds: 'stays',
  sdk_sessions: 'deleted',
  sessions: 'deleted',
  sweep_parts: 'stays',
  tip_decisions: 'deleted',
  totp_factors: 'deleted',
  wallet_transfers: 'stays',
  wallets: 'stays',
  webhook_deliveries: 'deleted',
  webhook_endpoints: 'deleted',
  withdrawals: 'stays',
}

test.serial('a closed account is one of nobody: its rows are gone, nobody finds the creator', async (t) => {
  const { db, request } = world()
  const creator = await registerCreator(world(), { minTipUsd: 1 })
  const { apiKey, sessionToken } = await fillAccount(creator)
  const { user, email, wallet, session } = creator
  const tip = someConfirmation(wallet, { message: 'thank you' })
  await storePendingTips(world(), [tip])
  await confirmTips(world().services, [tip])
  await requestExport(creator)
  // The factor counts, so the password alone does not.
  const withFactor = await close(creator)
  t.is(withFactor.status, 401)
  t.is(withFactor.body.code, 'second_factor_required')
  await db('passkeys').delete().where({ user_id: user.id })

  t.is((await close(creator, { password: 'wrong password' })).status, 401)
  t.is((await close(creator, { password: undefined })).body.error, 'Current password or code required')
  t.is((await close(creator, { leaveTokens: false })).status, 503, 'an unknown balance of tokens is not none')
  t.is((await close(creator)).status, 503, 'nor does a password alone leave them behind')
  await voidPassword(user.id)
  const refused = await close(creator, byMail)
  t.is(refused.status, 409)
  t.is(refused.body.error, 'Account still holds money')
  t.deepEqual(refused.body.details, [{ field: 'balance', problem: 'USDC 0.98 are available' }])
  await spend(user.id, 980_000n)

  const forgotten = await forgottenValues(db, user.id)
  t.true(forgotten.length > 5)
  const closed = await close(creator, byMail)
  t.is(closed.status, 200)
  t.is(closed.session, undefined)

  const referring: { name: string; column: string }[] = (
    await db.raw(`
      select c.conrelid::regclass::text as name, a.attname as column
      from pg_constraint c join pg_attribute a on a.attrelid = c.conrelid and a.attnum = c.conkey[1]
      where c.contype = 'f' and c.confrelid = 'users'::regclass
      union all select 'events', 'user_id' order by 1`)
  ).rows
  t.deepEqual(
    [...new Set(referring.map(({ name }) => name))],
    Object.keys(tables).sort(),
    'every table is in the list',
  )
  for (const { name, column } of referring) {
    const rows = await db(name).where({ [column]: user.id })
    if (tables[name] === 'deleted') t.deepEqual(rows, [], name)
  }
  const row = await userRow(user.id)
  t.like(row, {
    name: 'Closed account',
    password_hash: null,
    twitter_handle: null,
    settings: {},
    registered_network: null,
  })
  t.regex(row.email, /^closed-[0-9a-f]{32}@closed\.invalid$/)
  t.truthy(row.closed_at)
  const dump = await dumpTables(db)
  dump.delete('emails')
  for (const [table, text] of dump)
    t.deepEqual(
      forgotten.filter((words) => text.includes(words)),
      [],
      table,
    )
  t.deepEqual(await db('emails').where({ recipient: email }).pluck('kind'), ['account-closed'])
  t.regex((await deliverEmail(world(), email)).subject, /is closed$/)

  // Nothing of before opens anything.
  t.is((await request('GET', '/auth/me', { session })).status, 401)
  t.is((await request('GET', '/auth/me', { bearer: creator.accessToken })).status, 401)
  t.is((await request('POST', '/auth/login', { body: creator })).status, 401)
  t.is((await request('GET', '/sdk/session', { bearer: sessionToken })).status, 401)
  const events = await request('GET', `/sdk/events?creatorId=${user.id}`, { bearer: apiKey })
  t.is(events.status, 401)
  // Nobody can tip it, by any name.
  for (const creatorId of [user.id, `auth_${user.id}`, wallet, `@t${user.id.slice(0, 8)}`]) {
    const fiat = await request('POST', '/payments/fiat/intent', { body: { creatorId, amount: 5 } })
    t.is(fiat.body.error, 'Creator not found', creatorId)
  }
  t.deepEqual(await listTips(world(), user.id), [])
  t.deepEqual(await listTips(world(), wallet), [])
  // The address registers anew, as another account.
  const again = await request<{ user: { id: string } }>('POST', '/auth/register', {
    body: { email, password: 'another password', name: 'Ada' },
  })
  t.is(again.status, 200)
  t.not(again.body.user.id, user.id)
  t.is((await db('tips').where({ id: tip.id }).first()).message, 'thank you', 'tips stay')
  t.true((await checkBooks(db)).holds)
})

test.serial('every column, JSON field and Redis key that can hold words has its fate', async (t) => {
  const { db, env } = world()
  const { rows } = await db.raw<{ rows: { table: string; column: string; json: boolean }[] }>(/* sql */ `
    select c.relname as table, a.attname as column, y.typname = 'jsonb' as json
    from pg_attribute a join pg_class c on c.oid = a.attrelid join pg_type y on y.oid = a.atttypid
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and c.relname !~ '^knex_'
      and a.attnum > 0 and not a.attisdropped and y.typcategory not in ('B', 'D', 'N', 'T') and y.typname <> 'uuid'
    order by 1, 2`)
  const stored: Record<string, string[]> = {}
  for (const { table, column } of rows) stored[table] = [...(stored[table] ?? []), column]
  const listed = Object.entries(columns).map(([table, list]) => [table, listedIn(list)])
  t.deepEqual(
    Object.fromEntries(listed),
    stored,
    'a new column has a place in test/privacy/personal-columns.ts',
  )
  for (const [name, list] of Object.entries(jsonFields)) {
    const [table = '', column = ''] = name.split('.')
    const seen = await db.raw<{ rows: { key: string }[] }>(
      `select distinct jsonb_object_keys(??) as key from ?? where jsonb_typeof(??) = 'object'`,
      [column, table, column],
    )
    const unknown = seen.rows.filter(({ key }) => !listedIn(list).includes(key))
    t.deepEqual(unknown, [], name)
  }

  t.deepEqual(listedIn(jsonFields['users.settings'] ?? {}), Object.keys(creatorSettings.shape).toSorted())

  // Redis has jobs, which name nothing, and counters under hashes.
  const redis = new Redis(env['REDIS_URL'] ?? '')
  t.teardown(() => redis.disconnect())
  const { namespace } = world().services.config.redis
  const keys = await redis.keys(`*${namespace}*`)
  t.true(keys.length > 0)
  const known = new RegExp(`^(\\{${namespace}\\}:[\\w:-]+|${namespace}:limit:[\\w-]+:[\\w+/=-]{20,})$`)
  t.deepEqual(
    keys.filter((key) => !known.test(key)),
    [],
  )
  const emails = await db('users').pluck('email')
  t.false(emails.some((email: string) => keys.some((key) => key.includes(email))))
})

/** Takes money out, as a withdrawal does. */
async function spend(userId: string, micro: bigint): Promise<void> {
  const to = platformAccount('custody_wallets', 'USDC')
  const entries = transferEntries(micro, userAccount(userId, 'available', 'USDC'), to)
  await credit(world().db, { key: `test:spend:${userId}:${micro}`, ref: 'test', entries })
}

test.serial('an account stays while a withdrawal, naira tip or payment in suspense is open', async (t) => {
  const creator = await registerCreator(world())
  await voidPassword(creator.user.id)
  const { intentId } = await createFiatIntent(world(), { creatorId: creator.user.id, amount: 10 })
  const problems = async () =>
    (await close(creator, byMail)).body.details?.map(({ field, problem }) => `${field}: ${problem}`)
  t.deepEqual(await problems(), ['nairaIntents: 1 open for half an hour at most, and may be paid'])
  payFiatIntent(world(), intentId, 100)
  await settleIntentNow(world(), intentId)
  t.deepEqual(await problems(), ['nairaPayments: 1 with an operator, who gives them back or to you'])

  const person = await creatorWithBalance(world(), 10)
  t.is((await requestWithdrawal(world(), person, { amountUSDC: 10 })).status, 200)
  const refused = await close(person)
  t.deepEqual(
    refused.body.details?.map(({ field }) => field),
    ['balance', 'withdrawals'],
  )
  t.is((await userRow(person.user.id)).closed_at, null)
})

test.serial('closing needs a fresh session and an account not frozen or changed lately', async (t) => {
  const { db } = world()
  const person = await registerPerson(world())
  const { id } = person.user
  await ageSessions(id, 16)
  t.is((await close(person)).body.error, 'Reauthentication required')
  t.is((await requestExport(person)).status, 401)
  await ageSessions(id, 0)
  await db('users').where({ id }).update({ frozen_at: new Date(), frozen_reason: 'test' })
  t.is((await close(person)).body.error, 'Account frozen')
  await db('users')
    .where({ id })
    .update({ frozen_at: null, frozen_reason: null, factors_changed_at: new Date() })
  const recent = await close(person)
  t.is(recent.status, 409)
  t.is(recent.body.error, 'E-mail or second factor changed in the last 72 hours')
})

test.serial('a tip being credited keeps the account open; a later one is nobody’s', async (t) => {
  const { db } = world()
  const creator = await registerCreator(world())
  const { id } = creator.user
  await voidPassword(id)
  const crediting = await db.transaction()
  t.teardown(() => crediting.isCompleted() || crediting.rollback())
  const to = userAccount(id, 'available', 'USDC')
  const entries = transferEntries(5n, platformAccount('custody_wallets', 'USDC'), to)
  await credit(crediting, { key: `test:race:${id}`, ref: 'test', entries })
  const closing = close(creator, byMail)
  await until('the closing waits', async () => {
    const { rows } = await db.raw(`
      select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`)
    return rows.length > 0
  })
  await crediting.commit()
  t.is((await closing).status, 409)
  await spend(id, 5n)

  const { intentId } = await createFiatIntent(world(), { creatorId: id, amount: 10 })
  await expireFiatIntent(world(), intentId)
  await settleIntentNow(world(), intentId)
  const cases = async () =>
    (await listOpenCases(db)).find(({ what }) => what.startsWith('closed accounts'))?.count
  t.is(await cases(), 0)
  t.is((await close(creator, byMail)).status, 200)
  // On the chain and in naira.
  const tip = someConfirmation(creator.wallet)
  await storePendingTips(world(), [tip])
  await confirmTips(world().services, [tip])
  payFiatIntent(world(), intentId)
  await settleIntentNow(world(), intentId)
  const account = await db('ledger_accounts')
    .where({ user_id: id, kind: 'available', currency: 'USDC' })
    .first()
  t.is(account.balance, 980_000n + 9_500_000n)
  t.is(await cases(), 1, 'operators see it')
  t.true((await checkBooks(db)).holds)
})

test.serial('of many closings and withdrawals at once no money is left behind', async (t) => {
  const people = await Promise.all(Array.from({ length: 4 }, () => creatorWithBalance(world(), 10)))
  await Promise.all(
    people.flatMap((person) => [
      requestWithdrawal(world(), person, { amountUSDC: 10 }),
      close(person),
      close(person),
    ]),
  )
  for (const { user } of people) {
    t.is((await userRow(user.id)).closed_at, null)
    t.is((await world().db('withdrawals').where({ user_id: user.id })).length, 1)
  }
  const empty = await registerPerson(world())
  const answers = await Promise.all([close(empty), close(empty), close(empty)])
  t.deepEqual(answers.map(({ status }) => status).sort(), [200, 401, 401])
})

test.serial('an export that is asked for while the account is being closed is refused', async (t) => {
  const { user } = await registerPerson(world())
  const { db, services } = world()
  const closing = await db.transaction()
  await closing('users').where({ id: user.id }).update({ closed_at: new Date() })
  const asked = t.throwsAsync(requestDataExport(services, user.id), { message: 'Unauthorized' })
  await until('it waits for the closing', async () => {
    const { rows } = await db.raw(
      `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query ~ 'data_exports'`,
    )
    return rows.length > 0
  })
  await closing.commit()
  await asked
  t.deepEqual(await db('data_exports').where({ id: user.id }), [])
})

test('tokens in the wallet are named', (t) => {
  t.notThrows(() => assertNoTokens([], false))
  const sol = { symbol: 'SOL', mint: 'x', amount: 0.5, valueUsd: 75 }
  const error = t.throws(() => assertNoTokens([sol], true), { message: 'Account still holds money' })
  t.regex(JSON.stringify(error), /0\.5 SOL are in the wallet.*leaveTokens: true/)
  const byPassword = t.throws(() => assertNoTokens([sol], false))
  t.regex(JSON.stringify(byPassword), /0\.5 SOL are in the wallet.*have the operator close the account/)
})

test.serial('an export that is asked for after the closing is refused', async (t) => {
  const person = await registerPerson(world())
  t.is((await close(person)).status, 200)
  await t.throwsAsync(requestDataExport(world().services, person.user.id), { message: 'Unauthorized' })
})

test.serial('an export that cannot be made five times is given up, and an operator is told', async (t) => {
  const { db, services } = world()
  const creator = await registerPerson(world())
  await requestExport(creator)
  const config = Object.create(services.config, {
    dataKeys: {
      get() {
        throw new Error('this process has no DATA_KEY')
      },
    },
  })
  const noKey = { ...services, config }
  for (let attempt = 1; attempt <= 5; attempt += 1) {
    t.is(await countAlerts(world(), 'export_failed'), 0)
    await db('data_exports')
      .where({ id: creator.user.id })
      .update({ due_at: new Date(0) })
    await makeExports(noKey)
  }
  t.is(await countAlerts(world(), 'export_failed'), 1)
  t.is((await requestExport(creator)).body.export.status, 'preparing', 'it may be asked for again at once')
  await db('data_exports').where({ id: creator.user.id }).del()
})

test.serial('an export is made, mailed and complete, without secrets', async (t) => {
  const { db, request, services } = world()
  const creator = await registerCreator(world(), { minTipUsd: 2 })
  const { apiKey, sessionToken } = await fillAccount(creator)
  const { user, email, wallet, session } = creator
  const tips = Array.from({ length: 3 }, (_, i) => someConfirmation(wallet, { message: `tip ${i}` }))
  await storePendingTips(world(), tips)
  await confirmTips(services, tips)
  t.is((await requestWithdrawal(world(), creator, { amountUSDC: 2 })).status, 200)

  // A GET that acts: pages of other sites may not even send it.
  for (const headers of [{ origin: 'https://evil.example' }, { 'sec-fetch-site': 'cross-site' }])
    t.is((await request('GET', '/auth/export', { session, headers })).status, 403)
  t.deepEqual(await db('data_exports').where({ id: user.id }), [])

  const first = await requestExport(creator)
  t.is(first.status, 200)
  t.is(first.body.export.status, 'preparing')
  t.deepEqual((await requestExport(creator)).body, first.body)
  await makeExports(as('clock', services))
  t.is((await requestExport(creator)).body.export.status, 'ready')
  const mail = await deliverEmail(world(), email)
  const token = /#export=([\w-]{43})$/m.exec(mail.text)?.[1]
  const download = () =>
    request<Record<string, never[]>>('POST', '/auth/export/download', { body: { token } })
  const file = await download()
  t.is(file.status, 200)
  t.regex(
    String(file.headers['content-disposition']),
    /^attachment; filename="account-data-\d{4}-\d\d-\d\d\.json"$/,
  )
  t.is(file.headers['cache-control'], 'no-store')
  const { account, sites, apiKeys, transactions, withdrawals, devices, sessions, emails, longer } = file.body
  const { secondFactors, actionsOfOperators, balances, bankAccounts } = file.body
  t.like(file.body['payees']?.[0], { accountNumber: '******6789', accountName: 'Ada Obi' } as never)
  t.deepEqual(bankAccounts, [
    { bankCode: '058', accountNumber: '0123456789', accountName: 'Ada Obi' },
  ] as never[])
  t.like(account?.[0], {
    id: user.id,
    email,
    walletPublicKey: wallet,
    settings: { minTipUsd: 2 },
    hasPassword: true,
  })
  t.deepEqual(sites, [{ domain: 'shop.example' }] as never[])
  t.like(apiKeys?.[0], { label: 'shop' } as never)
  t.like(secondFactors?.[0], { kind: 'passkey', label: 'phone' } as never)
  t.is(file.body['tips']?.length, 3)
  t.is(withdrawals?.length, 1)
  t.true((transactions?.length ?? 0) >= 4)
  for (const list of [devices, sessions, actionsOfOperators, balances]) t.true((list?.length ?? 0) > 0)
  t.true(Array.isArray(emails))
  t.deepEqual(longer, [])

  const row = await userRow(user.id)
  const { sealed_secret } = await db('wallets').where({ user_id: user.id }).first()
  const secrets = [
    session,
    creator.accessToken,
    creator.password,
    row.password_hash,
    apiKey,
    sessionToken,
    String(token),
  ]
  const bytes = [sealed_secret, (await db('api_keys').where({ user_id: user.id }).first()).key_hash]
  const text = JSON.stringify(file.body)
  for (const words of await exportedValues(db, user.id)) t.true(text.includes(words), words)
  for (const secret of [...secrets, ...bytes.flatMap((one) => [one.toString('hex'), one.toString('base64')])])
    t.false(text.includes(secret), secret.slice(0, 8))
  t.deepEqual(text.match(/zqx[\w-]*/g), null, 'nothing about operators, no key')

  // Not in the database in plain, for nobody else, and for 72 hours.
  t.false((await dumpTables(db)).get('data_exports')?.includes(email))
  t.is((await download()).status, 200, 'a download that broke is repeated')
  const wrong = await request('POST', '/auth/export/download', { body: { token: `${token}x` } })
  t.is(wrong.body.error, 'Invalid or expired link')
  await db('data_exports')
    .where({ id: user.id })
    .update({ expires_at: new Date(Date.now() - 1) })
  t.is((await download()).status, 400)
  t.is((await requestExport(creator)).body.export.status, 'expired')
  await deleteExpiredExports(as('clock', services))
  t.is((await db('data_exports').where({ id: user.id }).first()).sealed_file, null)
  await makeExports(as('clock', services))
  t.is((await requestExport(creator)).body.export.status, 'expired', 'once a day')
  await db('data_exports')
    .where({ id: user.id })
    .update({ requested_at: new Date(Date.now() - 25 * 3_600_000) })
  t.is((await requestExport(creator)).body.export.status, 'preparing')
})

test.serial('an export goes to the old address after a change; a fault stops no other', async (t) => {
  const { db, services } = world()
  const [person, broken] = [await registerPerson(world()), await registerPerson(world())]
  await db('email_changes').insert({
    user_id: person.user.id,
    old_email: 'owner@old.example',
    new_email: person.email,
    undo_until: new Date(Date.now() + 3_600_000),
  })
  await requestExport(broken)
  await requestExport(person)
  await db.raw(
    `alter table data_exports add constraint broken check (id <> '${broken.user.id}' or ready_at is null)`,
  )
  await makeExports(as('clock', services))
  t.is((await requestExport(person)).body.export.status, 'ready')
  const [mail, ...others] = await db('emails').where({
    recipient: 'owner@old.example',
    kind: 'data-export',
  })
  t.deepEqual(others, [])
  t.regex(mailText(mail), /#export=[\w-]+[\s\S]*#not-me=/, 'a thief may have asked')
  t.is((await db('emails').where({ recipient: person.email, kind: 'data-export' })).length, 0)
  t.is((await requestExport(broken)).body.export.status, 'preparing', 'tried again')
  for (let i = 0; i < 4; i++) {
    await db('data_exports')
      .whereNotNull('due_at')
      .update({ due_at: new Date(0) })
    await makeExports(as('clock', services))
  }
  t.like(await db('data_exports').where({ id: broken.user.id }).first(), {
    due_at: null,
    ready_at: null,
    attempts: 5,
  })
  await db.raw('alter table data_exports drop constraint broken')
  t.is((await requestExport(broken)).body.export.status, 'preparing', 'a failed one may be asked for again')
})

test.serial('operators close an account, list those that hold money, and erase a payer', async (t) => {
  const { db } = world()
  const person = await creatorWithBalance(world(), 3)
  const { id } = person.user
  const args = ['--user', person.email, '--apply', '--confirm', id, '--reason', 'asked by mail']
  const refused = await runOpsScript(world(), 'close-account', ...args)
  t.is(refused.code, 1)
  t.regex(refused.err, /balance: USDC 3 are available/)
  await spend(id, 3_000_000n)
  t.is((await runOpsScript(world(), 'close-account', '--user', person.email, '--apply')).code, 3)
  t.regex((await runOpsScript(world(), 'close-account', '--user', person.email)).out, /not closed yet/)
  t.is((await runOpsScript(world(), 'close-account', ...args)).code, 0)
  t.truthy((await userRow(id)).closed_at)
  t.regex((await runOpsScript(world(), 'close-account', '--user', id)).out, /nothing to do/)
  t.false((await dumpTables(db)).get('audit_log')?.includes(person.email))
  const late = userAccount(id, 'available', 'USDC')
  const entries = transferEntries(1_500_000n, platformAccount('custody_wallets', 'USDC'), late)
  await credit(db, { key: `test:late:${id}`, ref: 'test', entries })
  t.regex((await runOpsScript(world(), 'close-account')).out, new RegExp(`${id} .* USDC 1\\.5`))

  const creator = await registerCreator(world())
  const payer = ['--email', 'Asks@Example.com']
  t.regex((await runOpsScript(world(), 'forget-payer', ...payer)).out, /nothing to do/)
  await createFiatIntent(world(), { creatorId: creator.user.id, amount: 5, payerEmail: 'asks@example.com' })
  t.is((await runOpsScript(world(), 'forget-payer', ...payer, '--apply')).code, 2)
  t.is((await runOpsScript(world(), 'forget-payer', ...payer, '--apply', '--reason', 'by mail')).code, 0)
  t.regex((await runOpsScript(world(), 'forget-payer', ...payer)).out, /nothing to do/)
})
