import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Composed, compose } from '../../src/compose.js'
import { recordEvent } from '../../src/events/record-event.js'
import { loadConfig } from '../../src/platform/config/config.js'
import { query } from '../../src/platform/database/database.js'
import { openDataKeys } from '../../src/privacy/keys/open-data-keys.js'
import { createEndpoint } from '../../src/webhooks/manage-endpoints.js'
import { workersProgram } from '../dev/built.js'
import { freePort } from '../dev/ports.js'
import { type Defer, withClosing } from '../kit/closing.js'
import type { Report } from '../kit/report.js'
import type { ServerUrls } from '../kit/servers.js'
import { ServiceProcess } from '../kit/service-process.js'
import { serviceSettings } from '../kit/service-settings.js'

interface Plan {
  readonly events: number
  readonly endpoints: number
  /** Of them so many hang, and as many answer 500. */
  readonly bad: number
  readonly rate: number
  /** Seconds between kills of one of the two dispatchers; 0: none is killed. */
  readonly kill: number
  readonly report: (text: string) => void
}

const dispatchers = 2
/** The promise: the good ones are at most so far behind, at the 99th percentile. */
const mostBehindMs = 2000
/** A dead dispatcher's endpoints come back after the lease. */
const restMs = 150_000

type Manner = 'good' | 'hangs' | 'fails'

/** Sends events to webhooks of which some hang and some fail, and counts what arrives. */
export function runWebhooks(urls: ServerUrls, plan: Plan): Promise<Report> {
  return withClosing(async (defer) => {
    const env = { ...serviceSettings(urls), MODE: 'test' }
    const services = compose(loadConfig(env), 'faults')
    defer(() => services.close())
    await openDataKeys(services.db, services.config.dataKeys)
    const receiver = await startReceiver()
    defer(() => receiver.close())
    const mannerOf = (index: number): Manner =>
      index < plan.bad ? 'hangs' : index < 2 * plan.bad ? 'fails' : 'good'
    const owners = await createOwners(services, plan.endpoints)
    for (const [index, userId] of owners.entries()) {
      const url = `${receiver.url}/${mannerOf(index)}/${index}`
      await createEndpoint(services, userId, { url, types: [] })
    }
    const processes = await Promise.all(
      Array.from({ length: dispatchers }, (_, nth) => startDispatcher(nth + 1, env, defer)),
    )
    let kills = 0
    const killer =
      plan.kill > 0 && setInterval(() => processes[kills++ % dispatchers]?.kill(), plan.kill * 1000)
    defer(() => void (killer && clearInterval(killer)))

    await writeEvents(services, owners, plan)
    if (killer) clearInterval(killer)
    plan.report('all events are recorded')
    const good = owners.filter((_, index) => mannerOf(index) === 'good')
    const lost = await untilDelivered(services, good)
    return judge(plan, receiver, { lost, kills, mannerOf })
  })
}

export async function createOwners({ db }: Composed, count: number): Promise<string[]> {
  const rows = await query<{ id: string }>(db, {
    name: 'faults.owners',
    text: `insert into users (email, name, password_hash)
      select i || '@webhooks.example', 'Ada Obi', 'none' from generate_series(1, $1::int) i returning id`,
    values: [count],
  })
  return rows.map(({ id }) => id)
}

export async function startDispatcher(
  nth: number,
  env: Readonly<Record<string, string>>,
  defer: Defer,
): Promise<ServiceProcess> {
  const port = await freePort()
  const started = new ServiceProcess({
    name: `dispatcher ${nth}`,
    args: [workersProgram, 'dispatcher'],
    env: { ...env, WORKER_PORT: String(port) },
    url: `http://127.0.0.1:${port}`,
    logFile: `.data/faults/dispatcher-${nth}.log`,
    onKill: async () => undefined,
  })
  defer(() => started.end())
  await started.start()
  return started
}

/** At this rate, of one creator after the other. */
async function writeEvents({ transact }: Composed, owners: readonly string[], plan: Plan): Promise<void> {
  const started = performance.now()
  for (let n = 0; n < plan.events; n++) {
    const userId = owners[n % owners.length] ?? ''
    await transact(async (uow) =>
      recordEvent(
        uow,
        'tip.confirmed',
        String(n),
        async () => new Map([[String(n), { userId, data: { n } }]]),
      ),
    )
    const aheadMs = (n * 1000) / plan.rate - (performance.now() - started)
    if (aheadMs > 0) await sleep(aheadMs)
  }
}

/** Waits until everything is delivered to these. Returns how much is not. */
export async function untilDelivered({ db }: Composed, owners: readonly string[]): Promise<number> {
  for (const end = performance.now() + restMs; ; await sleep(500)) {
    const [row] = await query<{ missing: number }>(db, {
      name: 'faults.missing',
      text: `select (select sum(last_sequence) from event_counters where user_id = any($1))::int
        - (select count(*) from webhook_deliveries where user_id = any($1) and state = 'delivered')::int as missing`,
      values: [owners],
    })
    if (row?.missing === 0 || performance.now() > end) return row?.missing ?? -1
  }
}

interface Receiver {
  readonly url: string
  /** How often each message arrived at each path. */
  readonly counts: ReadonlyMap<string, number>
  /** Of first arrivals at good ones. */
  readonly behindMs: readonly number[]
  close(): void
}

export async function startReceiver(): Promise<Receiver> {
  const counts = new Map<string, number>()
  const behindMs: number[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { url = '', headers } = request
    const key = `${url} ${headers['webhook-id']}`
    const count = (counts.get(key) ?? 0) + 1
    counts.set(key, count)
    if (url.startsWith('/hangs')) return
    if (url.startsWith('/fails')) return response.writeHead(500).end()
    const { timestamp, type } = JSON.parse(Buffer.concat(chunks).toString())
    if (count === 1 && type !== 'ping') behindMs.push(Date.now() - Date.parse(timestamp))
    return response.end()
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    counts,
    behindMs,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

function judge(
  plan: Plan,
  { counts, behindMs }: Receiver,
  {
    lost,
    kills,
    mannerOf,
  }: { readonly lost: number; readonly kills: number; readonly mannerOf: (n: number) => Manner },
): Report {
  const sorted = [...behindMs].sort((a, b) => a - b)
  const at = (part: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0
  const good = [...counts].filter(([key]) => key.startsWith('/good'))
  const repeats = good.reduce((sum, [, count]) => sum + count - 1, 0)
  const owners = Array.from({ length: plan.endpoints }, (_, index) => index)
  const expected = owners
    .filter((index) => mannerOf(index) === 'good')
    .reduce((sum, index) => sum + 1 + Math.floor((plan.events - 1 - index) / plan.endpoints) + 1, 0)
  const faults = [
    ...(lost === 0 ? [] : [`${lost} events are not delivered`]),
    ...(good.length === expected ? [] : [`${good.length} messages arrived of ${expected}`]),
    ...(kills > 0 || repeats === 0 ? [] : [`${repeats} repeats without a kill`]),
    ...(kills > 0 || at(0.99) <= mostBehindMs ? [] : [`the 99th percentile is ${at(0.99)} ms`]),
  ]
  return {
    rows: [
      ['events', plan.events],
      ['endpoints: good, hanging, failing', `${plan.endpoints - 2 * plan.bad}, ${plan.bad}, ${plan.bad}`],
      ['kills', kills],
      ['messages to the good ones', good.length],
      ['repeats of them', repeats],
      ['behind the record, ms: p50, p99, most', `${at(0.5)}, ${at(0.99)}, ${at(1)}`],
    ],
    faults,
    kept: 'every event has arrived',
  }
}
