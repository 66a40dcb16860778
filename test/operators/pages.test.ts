import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import test, { type ExecutionContext } from 'ava'
import { closeServer } from '../../scripts/sandbox/http-server.js'
import { listOpenCases } from '../../src/operators/open-cases.js'
import { operatorsPages } from '../../src/operators/routes.js'
import { listWork, sumWork } from '../../src/operators/work-rows.js'
import { openQueues } from '../../src/platform/queue/queues.js'
import { requestRaw } from '../helpers/http/raw-request.js'
import { registerCreator } from '../helpers/make/creators.js'
import { registerPerson } from '../helpers/make/people.js'
import { someClaim } from '../helpers/make/tips.js'
import { useWorld } from '../helpers/servers/world.js'
import { until } from '../helpers/until.js'
import { elementsOf, refuseScript } from '../manual/page.js'

const world = useWorld(test)
const login = { user: 'olu', password: 'sixteen letters at least' }
const basic = (user: string, password: string) => ({
  authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
})
const known = basic(login.user, login.password)

/** The operators' pages of the world. */
async function start(t: ExecutionContext) {
  const queues = openQueues(world().services.config.redis)
  const server = createServer(operatorsPages(world().services, queues, login))
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  t.teardown(async () => {
    await closeServer(server)
    await queues.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return (path: string, headers: Record<string, string> = known, method = 'GET') =>
    requestRaw(url, method, path, headers)
}

test('without the login nothing is told, not even what there is', async (t) => {
  const get = await start(t)
  const { user, password } = login
  const wrong = [
    {},
    basic(user, 'wrong'),
    basic('', ''),
    basic(user, ''),
    basic(user, `${password} `),
    basic(user.toUpperCase(), password),
  ]
  for (const headers of [...wrong, { authorization: 'Bearer x' }, { authorization: 'Basic %%%' }])
    for (const path of ['/', '/ops', '/ops/queues/', '/ops/queues/api/queues', '/nowhere']) {
      const { status, text, headers: answered } = await get(path, headers)
      if (status === 429) continue
      t.is(status, 401)
      t.is(text, 'Unauthorized\n')
      t.is(answered['www-authenticate'], 'Basic realm="operators", charset="UTF-8"')
    }
})

test('who guesses is soon not listened to', async (t) => {
  const get = await start(t)
  for (let tries = 0; tries < 20; tries += 1)
    t.is((await get('/ops', basic('olu', `guess ${tries}`))).status, 401)
  t.is((await get('/ops', basic('olu', 'guess'))).status, 429)
  t.is((await get('/ops')).status, 429, 'the right one neither')
})

test.serial('the figures are those of the rows', async (t) => {
  const { db, request } = world()
  const before = await sumWork(db)
  const { user } = await registerPerson(world())
  await db('wallets')
    .where({ user_id: user.id })
    .update({
      due_at: db.raw(`clock_timestamp() - interval '90 seconds'`),
      attempts: 3,
      last_error: 'vault away',
    })
  const claim = someClaim()
  await request('POST', '/chain/tips/create', { body: claim })
  await db('emails').insert([
    {
      kind: 'code',
      recipient: 'a@example.com',
      subject: 's',
      body_text: 't',
      body_html: 'h',
      due_at: db.raw(`clock_timestamp() + interval '1 hour'`),
      last_error: 'refused',
    },
    { kind: 'code', recipient: 'b@example.com', subject: 's', body_text: 't', body_html: 'h' },
  ])
  const after = await sumWork(db)
  const grown = (kind: string, field: 'due' | 'later' | 'failing') =>
    (after.find((sum) => sum.kind === kind)?.[field] ?? 0) -
    (before.find((sum) => sum.kind === kind)?.[field] ?? 0)
  t.deepEqual([grown('provisioner', 'due'), grown('provisioner', 'failing')], [1, 1])
  t.deepEqual([grown('mailer', 'due'), grown('mailer', 'later'), grown('mailer', 'failing')], [1, 1, 1])
  t.is(grown('verifier', 'due'), 1)
  const oldest = after.find(({ kind }) => kind === 'provisioner')?.oldestSeconds ?? 0
  t.true(oldest >= 90 && oldest < 600, String(oldest))
  const [first] = await listWork(db, 'provisioner', 10)
  t.like(first, { kind: 'provisioner', id: user.id, attempts: 3, lastError: 'vault away' })
  const rows = await listWork(db, 'mailer', 10)
  t.deepEqual(
    rows.map(({ lastError }) => lastError),
    ['refused', null],
    'failing ones first',
  )

  const get = await start(t)
  const { status, text, headers } = await get('/ops')
  t.is(status, 200)
  t.is(headers['cache-control'], 'no-store')
  t.regex(String(headers['content-security-policy']), /^default-src 'none'; style-src 'self';/)
  const elements = elementsOf(text)
  t.notThrows(() => refuseScript(elements))
  const lines = elements.filter(({ name }) => name === 'tr').map(({ text: words }) => words)
  t.true(
    lines.some(
      (line) =>
        line.startsWith('provisionerwallets') &&
        line.includes('stands still') &&
        line.endsWith('npm run ops -- work list --kind provisioner'),
    ),
    lines.join('\n'),
  )
  t.true(
    lines.some(
      (line) =>
        line.includes(user.id) &&
        line.includes('vault away') &&
        line.endsWith(`npm run ops -- work retry ${user.id} --kind provisioner --apply`),
    ),
  )
  t.true(lines.some((line) => line.includes(claim.txSignature)))
  const style = elements.find(({ name }) => name === 'link')?.attributes.get('href') ?? ''
  t.is((await get(style)).status, 200)
})

test.serial('what waits for a person is counted, with the command that shows it', async (t) => {
  const { db } = world()
  t.true((await listOpenCases(db)).every(({ count }) => count === 0))
  await db('rates').insert({ pair: 'USD/NGN', value: '16', source: 'test', as_of: new Date() })
  await db('reconciliation_differences').insert({ provider_reference: 'fiatpay_x', kind: 'amount' })
  const waiting = new Map((await listOpenCases(db)).map(({ command, count }) => [command, count]))
  t.is(waiting.get('npm run ops -- accept-rate'), 1)
  t.is(waiting.get('npm run ops -- payouts compare'), 1)
  t.is(waiting.get('npm run ops -- payouts list --state manual_review'), 0)
})

test.serial('a hostile error text stays text', async (t) => {
  const { db } = world()
  const { user } = await registerPerson(world())
  const hostile = '</td><script>alert(1)</script><img src=x onerror=alert(1)>'
  await db('wallets').where({ user_id: user.id }).update({ last_error: hostile })
  const { text } = await (await start(t))('/ops')
  const elements = elementsOf(text)
  t.notThrows(() => refuseScript(elements))
  t.true(elements.some(({ name, text: words }) => name === 'td' && words === hostile))
})

test('Bull Board shows the queues, and can be asked for nothing but reads', async (t) => {
  const get = await start(t)
  world().services.wake('payouts', { id: 'payout-x-1', row: 'FIATPAY-X' })
  await registerCreator(world())
  const read = async () =>
    JSON.parse((await get('/ops/queues/api/queues?activeQueue=payouts&status=waiting&page=1')).text) as {
      queues: { name: string; readOnlyMode: boolean; jobs: { id: string }[] }[]
    }
  await until('the job is seen', async () =>
    (await read()).queues.some(({ jobs }) => jobs.some(({ id }) => id === 'payout-x-1')),
  )
  const { queues } = await read()
  t.deepEqual(queues.map(({ name }) => name).sort(), [
    'finder',
    'mailer',
    'payouts',
    'provisioner',
    'reconciler',
    'settlement',
    'verifier',
  ])
  t.true(queues.every(({ readOnlyMode }) => readOnlyMode))
  for (const path of [
    'pause',
    'retry/failed',
    'clean/failed',
    'empty',
    'obliterate',
    'payout-x-1/clean',
    'add',
  ])
    for (const method of ['PUT', 'POST', 'PATCH', 'DELETE']) {
      const { status } = await get(`/ops/queues/api/queues/payouts/${path}`, known, method)
      t.true(status === 404 || status === 405, `${method} ${path}: ${status}`)
    }
  t.deepEqual((await read()).queues, queues)
})

test('the page of Bull Board and all it loads come from here', async (t) => {
  const get = await start(t)
  const { status, text, headers } = await get('/ops/queues/queue/payouts')
  t.is(status, 200)
  t.regex(String(headers['content-security-policy']), /script-src 'self';/)
  const elements = elementsOf(text)
  t.is(elements.find(({ name }) => name === 'base')?.attributes.get('href'), '/ops/queues/')
  const loaded = elements.flatMap(({ name, attributes }) =>
    name === 'script' ? (attributes.get('src') ?? []) : name === 'link' ? (attributes.get('href') ?? []) : [],
  )
  t.true(loaded.length >= 4)
  for (const path of loaded) t.is((await get(`/ops/queues/${path}`)).status, 200, path)
  for (const path of ['../index.ejs', '%2e%2e/index.ejs', '..%2f..%2fpackage.json', 'js/none.js'])
    t.is((await get(`/ops/queues/static/${path}`)).status, 404, path)
})
