import { networkInterfaces } from 'node:os'
import test, { type ExecutionContext } from 'ava'
import { listOpenCases } from '../../src/operators/open-cases.js'
import { countWork, listWork } from '../../src/operators/work-rows.js'
import { loadOperators } from '../../src/platform/config/own-settings.js'
import { ConfigError } from '../../src/platform/config/read-settings.js'
import { requestRaw } from '../helpers/http/raw-request.js'
import { registerPerson } from '../helpers/make/creators.js'
import { someClaim } from '../helpers/make/tips.js'
import { runOpsScript } from '../helpers/run-ops-script.js'
import {
  basicLogin,
  operatorsLogin as login,
  startOperatorsPages,
} from '../helpers/servers/operators-pages.js'
import { type ServiceProcess, startWorkerProcess } from '../helpers/servers/service-process.js'
import { useWorld } from '../helpers/servers/world.js'
import { until } from '../helpers/until.js'
import { elementsOf, refuseScript } from '../manual/page.js'

const world = useWorld(test)
/** Throws for an active element. The policy allows the one style sheet, by its hash. */
const refuseActive = (elements: ReturnType<typeof elementsOf>): void =>
  refuseScript(elements.filter(({ name }) => name !== 'style'))

const startPages = (t: ExecutionContext) => startOperatorsPages(t, world())

test('without the login every path answers 401, also paths that do not exist', async (t) => {
  const get = await startPages(t)
  const { user, password } = login
  const wrongLogins = [
    {},
    basicLogin(user, 'wrong'),
    basicLogin('', ''),
    basicLogin(user, ''),
    basicLogin(user, `${password} `),
    basicLogin(user.toUpperCase(), password),
  ]
  for (const headers of [...wrongLogins, { authorization: 'Bearer x' }, { authorization: 'Basic %%%' }])
    for (const path of ['/', '/ops', '/nowhere']) {
      const { status, text, headers: answered } = await get(path, headers)
      if (status === 429) continue
      t.is(status, 401)
      t.is(text, 'Unauthorized\n')
      t.is(answered['www-authenticate'], 'Basic realm="operators", charset="UTF-8"')
    }
})

test('a method that it does not have is not an error of the server', async (t) => {
  const get = await startPages(t)
  for (const method of ['POST', 'DELETE', 'TRACE', 'PROPFIND'])
    t.is((await get('/ops', basicLogin(login.user, login.password), method)).status, 404, method)
})

test('after 20 wrong logins in a minute an address gets 429, also with the right password', async (t) => {
  const get = await startPages(t)
  for (let tries = 0; tries < 20; tries += 1)
    t.is((await get('/ops', basicLogin('olu', `guess ${tries}`))).status, 401)
  t.is((await get('/ops', basicLogin('olu', 'guess'))).status, 429)
  t.is((await get('/ops')).status, 429, 'the right password')
})

test('behind a proxy wrong logins count for their client and in total, and keep out nobody who logged in', async (t) => {
  const get = await startOperatorsPages(t, world(), 1)
  /** The statuses of as many attempts. The client may have written the first address itself. */
  const statuses = async (host: number, password: string, times = 1) => {
    const headers = {
      ...basicLogin(login.user, password),
      'x-forwarded-for': `203.0.113.8, 203.0.113.${host}`,
    }
    const all: number[] = []
    while (all.length < times) all.push((await get('/ops', headers)).status)
    return [...new Set(all)]
  }
  t.deepEqual(await statuses(7, 'guess', 20), [401])
  for (const password of ['guess', login.password]) t.deepEqual(await statuses(7, password), [429])
  t.deepEqual(await statuses(8, login.password, 3), [200], 'the operator at another address')

  for (const host of [20, 21, 22, 23]) t.deepEqual(await statuses(host, 'guess', 20), [401])
  for (const password of ['guess', login.password])
    t.deepEqual(await statuses(24, password), [429], 'a hundred in total')
  t.deepEqual(await statuses(8, login.password), [200], 'an address that logged in before')
  t.deepEqual(await statuses(8, 'guess', 20), [401])
  t.deepEqual(await statuses(8, login.password), [429], 'its own wrong ones')
})

test.serial('the page shows the counts and the rows of the work tables', async (t) => {
  const { db, request } = world()
  const before = await countWork(db)
  const { user } = await registerPerson(world())
  await db('wallets')
    .where({ user_id: user.id })
    .update({
      due_at: db.raw(`clock_timestamp() - interval '90 seconds'`),
      attempts: 3,
      last_error: 'vault unavailable',
    })
  const claim = someClaim()
  await request('POST', '/chain/tips/create', { body: claim })
  await db('emails').insert([
    {
      kind: 'code',
      recipient: 'a@example.com',
      subject: 's',
      body: '{}',
      due_at: db.raw(`clock_timestamp() + interval '1 hour'`),
      last_error: 'refused',
    },
    { kind: 'code', recipient: 'b@example.com', subject: 's', body: '{}' },
  ])
  const after = await countWork(db)
  const growth = (kind: string, field: 'due' | 'later' | 'failing') =>
    (after.find((sum) => sum.kind === kind)?.[field] ?? 0) -
    (before.find((sum) => sum.kind === kind)?.[field] ?? 0)
  t.deepEqual([growth('provisioner', 'due'), growth('provisioner', 'failing')], [1, 1])
  t.deepEqual([growth('mailer', 'due'), growth('mailer', 'later'), growth('mailer', 'failing')], [1, 1, 1])
  t.is(growth('verifier', 'due'), 1)
  const oldest = after.find(({ kind }) => kind === 'provisioner')?.oldestSeconds ?? 0
  t.true(oldest >= 90 && oldest < 600, String(oldest))
  const [first] = await listWork(db, 'provisioner', 10)
  t.like(first, { kind: 'provisioner', id: user.id, attempts: 3, lastError: 'vault unavailable' })
  const rows = await listWork(db, 'mailer', 10)
  t.deepEqual(
    rows.map(({ lastError }) => lastError),
    ['refused', null],
    'failing rows first',
  )

  const get = await startPages(t)
  const { status, text, headers } = await get('/ops')
  t.is(status, 200)
  t.is(headers['cache-control'], 'no-store')
  t.regex(String(headers['content-security-policy']), /^default-src 'none'; style-src 'sha256-/)
  const elements = elementsOf(text)
  t.notThrows(() => refuseActive(elements))
  const lines = elements.filter(({ name }) => name === 'tr').map(({ text: words }) => words)
  t.true(
    lines.some(
      (line) =>
        line.startsWith('provisionerwallets') &&
        line.includes('standstill') &&
        line.endsWith('npm run ops -- work list --kind provisioner'),
    ),
    lines.join('\n'),
  )
  t.true(
    lines.some(
      (line) =>
        line.includes(user.id) &&
        line.includes('vault unavailable') &&
        line.endsWith(`npm run ops -- work retry ${user.id} --kind provisioner --apply`),
    ),
  )
  t.true(lines.some((line) => line.includes(claim.txSignature)))
})

test.serial('open cases are counted, each with the command that lists it', async (t) => {
  const { db } = world()
  t.true((await listOpenCases(db)).every(({ count }) => count === 0))
  await db('rates').insert({ pair: 'USD/NGN', value: '16', source: 'test', as_of: new Date() })
  await db('reconciliation_differences').insert({ provider_reference: 'fiatpay_x', kind: 'amount' })
  const counts = new Map((await listOpenCases(db)).map(({ command, count }) => [command, count]))
  t.is(counts.get('npm run ops -- accept-rate'), 1)
  t.is(counts.get('npm run ops -- payouts compare'), 1)
  t.is(counts.get('npm run ops -- payouts list --state manual_review'), 0)
})

test.serial('an error text with HTML in it is shown as text', async (t) => {
  const { db } = world()
  const { user } = await registerPerson(world())
  const hostile = '</td><script>alert(1)</script><img src=x onerror=alert(1)>'
  await db('wallets').where({ user_id: user.id }).update({ last_error: hostile })
  const { text } = await (await startPages(t))('/ops')
  const elements = elementsOf(text)
  t.notThrows(() => refuseActive(elements))
  t.true(elements.some(({ name, text: words }) => name === 'td' && words === hostile))
})

/** `<status> <error> <Retry-After>` of a refusal, the status of another answer. */
async function tryCall(method: string, path: string, session?: string): Promise<string> {
  const options = { ...(session !== undefined && { session }), ...(method === 'POST' && { body: {} }) }
  const { status, body, headers } = await world().request(method, path, options)
  return status === 503 ? `${status} ${body.error} ${headers['retry-after']}` : String(status)
}

test.serial('what an operator switches off answers 503 and says when to come back', async (t) => {
  const { services } = world()
  const { session } = await registerPerson(world())
  const turn = (...args: string[]) => runOpsScript(world(), 'switch', ...args, '--as', 'ngozi')
  const because = ['--apply', '--reason', 'ticket 12']
  const paused = '503 Service unavailable 30'
  const id = '0d9e4c1b-7a52-4f3e-8c66-1b2a3c4d5e6f'
  const money = [
    ['POST', '/payments/intent'],
    ['POST', '/sdk/tip'],
    ['POST', '/pay/x'],
    ['POST', '/payments/fiat/intent'],
    ['POST', '/chain/tips/create'],
    ['POST', '/payouts/withdraw'],
    ['POST', `/payouts/FIATPAY-X/confirm`],
    ['POST', `/payouts/FIATPAY-X/cancel`],
    ['POST', `/creators/tips/${id}/refund`],
    ['POST', '/creators/wallet/transfers'],
    ['POST', `/creators/wallet/transfers/${id}/sign`],
  ] as const
  const stopped: Readonly<Record<string, readonly string[]>> = {
    intents: ['/payments/intent', '/sdk/tip', '/pay/x'],
    'naira-intents': ['/payments/fiat/intent'],
    registrations: ['/auth/register'],
    maintenance: money.map(([, path]) => path),
  }
  const calls = [
    ...money,
    ['POST', '/auth/register'],
    ['GET', '/creators/balance'],
    ['GET', '/auth/me'],
  ] as const
  for (const [name, paths] of Object.entries(stopped)) {
    // `switch maintenance on` starts maintenance; what the others name stops with off.
    const [stop, start] = name === 'maintenance' ? ['on', 'off'] : ['off', 'on']
    t.regex((await turn(name, stop)).out, /would switch it/)
    t.is((await turn(name, stop, '--apply')).code, 2, 'a reason is required')
    t.is((await turn(name, stop, ...because)).code, 0)
    await services.switches.read()
    for (const [method, path] of calls) {
      const answer = await tryCall(method, path, session)
      t.is(answer === paused, paths.includes(path), `${name} ${stop}: ${method} ${path} ${answer}`)
    }
    t.regex((await turn(name, stop, ...because)).out, /by ngozi: ticket 12: nothing to do/)
    t.is((await turn(name, start, ...because)).code, 0)
    await services.switches.read()
    for (const [method, path] of calls) t.not(await tryCall(method, path, session), paused, path)
  }
  const audit = await world().db('audit_log').where({ subject: 'switch:maintenance' }).orderBy('id')
  t.deepEqual(
    audit.map(({ actor, action, details }) => [actor, action, details.reason]),
    [
      ['ngozi', 'switch on', 'ticket 12'],
      ['ngozi', 'switch off', 'ticket 12'],
    ],
  )
  t.is((await turn('payout', 'off')).code, 2)
  t.is((await turn('payouts', 'pause')).code, 2)
})

test.serial('a running process sees a switch by itself, and page and metrics show it', async (t) => {
  const { services } = world()
  await services.switches.start()
  t.teardown(() => services.switches.stop())
  const ops = (...args: string[]) =>
    runOpsScript(world(), 'switch', ...args, '--apply', '--reason', 'too many <b>bots</b>', '--json')
  t.like(JSON.parse((await ops('registrations', 'off')).out), { ok: true, applied: true })
  await until('the process sees it', () => services.switches.isStopped('registrations'))
  t.true(
    (await services.metrics.stopped.get()).values.some(
      ({ labels, value }) => labels.switch === 'registrations' && value === 1,
    ),
  )
  const { text } = await (await startPages(t))('/ops')
  const lines = elementsOf(text).filter(({ name }) => name === 'tr')
  const line = lines.find(({ text: words }) => words.startsWith('registrationsoff'))?.text ?? ''
  t.true(line.includes('too many <b>bots</b>'), line)
  t.true(line.endsWith('npm run ops -- switch registrations on --apply --reason <text>'), line)
  t.is((await runOpsScript(world(), 'payouts', 'pause', '--apply', '--reason', 'the same row')).code, 0)
  await until('the process sees it', () => services.switches.isStopped('payouts'))
  t.like(JSON.parse((await ops('payouts', 'on')).out), { switch: { name: 'payouts', state: 'on' } })
  t.is((await ops('registrations', 'on')).code, 0)
  await services.switches.read()
  t.regex((await runOpsScript(world(), 'switch')).out, /^payouts: on$/m)
})

const ownLogin = { OPS_USER: 'olu', OPS_PASSWORD: 'sixteen letters at least' }
const authorization = `Basic ${Buffer.from(`${ownLogin.OPS_USER}:${ownLogin.OPS_PASSWORD}`).toString('base64')}`

/** The address on which a clock logs that it serves the operators' pages. */
function addressOf({ logs }: ServiceProcess): { readonly address: string; readonly port: number } {
  const line = logs.find(({ msg }) => msg === "operators' pages")
  return line?.['address'] as { address: string; port: number }
}

test('the operators’ pages are off without OPS_PORT, and with it need a user and a password', (t) => {
  t.is(loadOperators({ ...ownLogin }), undefined)
  t.is(loadOperators({ ...ownLogin, OPS_PORT: '' }), undefined)
  t.deepEqual(loadOperators({ ...ownLogin, OPS_PORT: '9000' }), {
    host: '127.0.0.1',
    port: 9000,
    user: ownLogin.OPS_USER,
    password: ownLogin.OPS_PASSWORD,
  })
  t.is(loadOperators({ ...ownLogin, OPS_PORT: '0.0.0.0:9000' })?.host, '0.0.0.0')
  for (const wrong of [
    { OPS_USER: '' },
    { OPS_USER: 'a:b' },
    { OPS_PASSWORD: '' },
    { OPS_PASSWORD: 'short' },
    { OPS_PORT: 'x' },
  ]) {
    const error = t.throws(() => loadOperators({ ...ownLogin, OPS_PORT: '9000', ...wrong }), {
      instanceOf: ConfigError,
    })
    t.true(error?.message.includes(Object.keys(wrong)[0] ?? ''))
    t.false(error?.message.includes(ownLogin.OPS_PASSWORD))
  }
})

test('the clock serves the operators’ pages on 127.0.0.1 only, and not without OPS_PORT', async (t) => {
  const clock = await startWorkerProcess(t, 'clock', { ...world().env, ...ownLogin, OPS_PORT: '0' })
  const { address, port } = addressOf(clock)
  t.is(address, '127.0.0.1')
  const at = (host: string, headers = {}) => requestRaw(`http://${host}:${port}`, 'GET', '/ops', headers)
  t.is((await at('127.0.0.1')).status, 401)
  t.is((await at('127.0.0.1', { authorization })).status, 200)
  const outside = Object.values(networkInterfaces())
    .flat()
    .find((one) => one?.family === 'IPv4' && !one.internal)
  if (outside !== undefined) await t.throwsAsync(at(outside.address), { code: 'ECONNREFUSED' })
  t.false(JSON.stringify(clock.logs).includes(ownLogin.OPS_PASSWORD))
  clock.signal('SIGTERM')
  t.is(await clock.ended, 0)

  const without = await startWorkerProcess(t, 'clock', { ...world().env, ...ownLogin })
  t.false(without.logs.some(({ msg }) => msg === "operators' pages"))
})

test('a clock whose OPS_PORT is taken runs without the operators’ pages', async (t) => {
  const first = await startWorkerProcess(t, 'clock', { ...world().env, ...ownLogin, OPS_PORT: '0' })
  const { port } = addressOf(first)
  const second = await startWorkerProcess(t, 'clock', { ...world().env, ...ownLogin, OPS_PORT: String(port) })
  t.true(second.logs.some(({ msg }) => msg === "the operators' pages cannot be served"))
  t.true(second.isRunning())
})
