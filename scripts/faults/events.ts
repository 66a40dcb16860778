import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { type Composed, compose } from '../../src/compose.js'
import { createApiKey } from '../../src/creators/api-keys.js'
import { recordEvent } from '../../src/events/record-event.js'
import { loadConfig } from '../../src/platform/config/config.js'
import { query } from '../../src/platform/database/database.js'
import { openDataKeys } from '../../src/privacy/keys/open-data-keys.js'
import { createBackendClient } from '../../src/sdk/client/backend.js'
import { createEventParser } from '../../src/sdk/client/sse-parser.js'
import { createEndpoint } from '../../src/webhooks/manage-endpoints.js'
import { webProgram } from '../dev/built.js'
import { freePort } from '../dev/ports.js'
import { type Defer, withClosing } from '../kit/closing.js'
import { Draw } from '../kit/draw.js'
import { percentile, type Report } from '../kit/report.js'
import type { ServerUrls } from '../kit/servers.js'
import { ServiceProcess } from '../kit/service-process.js'
import { serviceSettings } from '../kit/service-settings.js'
import { archiveMonth, fillOldMonth } from './archive-month.js'
import { createOwners, startDispatcher, startReceiver, untilDelivered } from './webhooks.js'

interface Plan {
  readonly events: number
  readonly creators: number
  readonly writers: number
  /** Seconds between kills, of the web process and of the dispatcher in turn. */
  readonly kill: number
  /** Events of a closed month, which is exported and deleted while the second half is written; 0: none is. */
  readonly archive: number
  readonly seed: number
  readonly report: (text: string) => void
}

/** A transaction has one event to so many. */
const mostInTransaction = 5
/** One transaction of so many is rolled back: its numbers must be given again. */
const rolledBackEach = 10
const restMs = 180_000
/** Archiving a month may make writing so many times as slow, at the 99th percentile, and no transaction may wait longer than this. */
const mostSlower = 2
const mostWaitMs = 2500

/** What a reader has read of a creator: sequence numbers and ids, in the order in which it got them. */
type Read = { readonly sequence: number; readonly id: string }[]

/** The ms that transactions took, by what went on when they began. */
interface Times {
  readonly alone: number[]
  readonly archiving: number[]
}

/** Compares what polling, a stream and webhooks give of one log while processes are killed. */
export function runEventReaders(urls: ServerUrls, plan: Plan): Promise<Report> {
  return withClosing(async (defer) => {
    const env = { ...serviceSettings(urls), MODE: 'test', DB_POOL: String(plan.writers) }
    const services = compose(loadConfig(env), 'faults')
    defer(() => services.close())
    await openDataKeys(services.db, services.config.dataKeys)
    const receiver = await startReceiver()
    defer(() => receiver.close())
    const [former = '', ...owners] = await createOwners(services, plan.creators + 1)
    const month = plan.archive > 0 ? await fillOldMonth(services, former, plan.archive) : undefined
    for (const owner of owners)
      await createEndpoint(services, owner, { url: `${receiver.url}/good/${owner}`, types: [] })
    const web = await startWeb(env, '.data/faults/web.log', defer)
    const dispatcher = await startDispatcher(1, env, defer)

    const ending = new AbortController()
    const polled = new Map<string, Read>(owners.map((owner) => [owner, []]))
    const streamed = new Map<string, Read>(owners.map((owner) => [owner, []]))
    const readers: Promise<void>[] = []
    for (const owner of owners) {
      const { apiKey } = await createApiKey(services, owner, undefined)
      readers.push(poll(web.url, apiKey, polled.get(owner) ?? [], ending.signal))
      readers.push(stream(web.url, apiKey, streamed.get(owner) ?? [], ending.signal))
    }
    let kills = 0
    const killer = setInterval(() => [web, dispatcher][kills++ % 2]?.kill(), plan.kill * 1000)
    defer(() => clearInterval(killer))
    const times: Times = { alone: [], archiving: [] }
    let now: keyof Times = 'alone'
    const archive = async (name: string): Promise<void> => {
      now = 'archiving'
      await archiveMonth(env, name)
      now = 'alone'
      plan.report('the month is archived')
    }
    for (const half of [0, 1]) {
      const archived = half === 1 && month !== undefined ? archive(month) : undefined
      const writers = Array.from({ length: plan.writers }, (_, nth) =>
        write(services, owners, plan, {
          draw: new Draw(plan.seed + half * plan.writers + nth),
          timesNow: () => times[now],
        }),
      )
      await Promise.all([...writers, archived])
    }
    clearInterval(killer)
    plan.report('all events are recorded')
    const lost = await untilDelivered(services, owners)
    const tables = await readTables(services, owners)
    await untilRead(tables, [polled, streamed])
    ending.abort()
    await Promise.all(readers)
    return judge(plan, { tables, polled, streamed, counts: receiver.counts, kills, lost, times })
  })
}

export async function startWeb(
  env: Readonly<Record<string, string>>,
  logFile: string,
  defer: Defer,
): Promise<ServiceProcess> {
  const port = await freePort()
  const started = new ServiceProcess({
    name: 'web',
    args: [webProgram],
    env: { ...env, PORT: String(port) },
    url: `http://127.0.0.1:${port}`,
    logFile,
    onKill: async () => undefined,
  })
  defer(() => started.end())
  await started.start()
  return started
}

/** Commits its share of half of the events, of random creators. */
async function write(
  { transact }: Composed,
  owners: readonly string[],
  plan: Plan,
  { draw, timesNow }: { readonly draw: Draw; readonly timesNow: () => number[] },
): Promise<void> {
  for (let left = Math.ceil(plan.events / plan.writers / 2); left > 0; ) {
    const count = Math.min(left, draw.whole(1, mostInTransaction))
    const rollsBack = draw.whole(1, rolledBackEach) === 1
    const times = timesNow()
    const begun = performance.now()
    const isWritten = await transact(async (uow) => {
      for (let n = 0; n < count; n++) {
        const userId = draw.oneOf(owners)
        const subject = `${userId} ${n}`
        recordEvent(uow, 'tip.confirmed', subject, async () => new Map([[subject, { userId, data: { n } }]]))
      }
      if (rollsBack) uow.atEnd(async () => Promise.reject(new RolledBack()), undefined)
    }).then(
      () => true,
      (error: unknown) => {
        if (error instanceof RolledBack || isTimeout(error)) return false
        throw error
      },
    )
    times.push(performance.now() - begun)
    if (isWritten) left -= count
  }
}

class RolledBack extends Error {}

/** PostgreSQL ended a statement that waited for other writers: nothing of its transaction was written. */
const isTimeout = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === '57014'

async function poll(baseUrl: string, apiKey: string, read: Read, signal: AbortSignal): Promise<void> {
  for await (const { sequence, id } of createBackendClient({ baseUrl, apiKey }).events({ signal }))
    read.push({ sequence, id })
}

/** As an EventSource does: connects again with the last id that it got. */
async function stream(baseUrl: string, apiKey: string, read: Read, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) await readStream(baseUrl, apiKey, read, signal).catch(() => sleep(200))
}

async function readStream(baseUrl: string, apiKey: string, read: Read, signal: AbortSignal): Promise<void> {
  const last = String(read.at(-1)?.sequence ?? 0)
  const headers = { authorization: `Bearer ${apiKey}`, 'last-event-id': last }
  const { ok, body } = await fetch(`${baseUrl}/creators/stream`, {
    headers,
    signal: AbortSignal.any([signal]),
  })
  if (!ok || body === null) throw new Error('the stream did not open')
  const parse = createEventParser()
  for await (const chunk of body.pipeThrough(new TextDecoderStream()))
    for (const { data } of parse(chunk)) {
      const event: { id?: string; sequence?: number } = JSON.parse(data ?? '{}')
      // The first one only says where the stream begins.
      if (event.id !== undefined && event.sequence !== undefined)
        read.push({ sequence: event.sequence, id: event.id })
    }
}

async function readTables({ db }: Composed, owners: readonly string[]): Promise<ReadonlyMap<string, Read>> {
  const tables = new Map<string, Read>()
  for (const owner of owners)
    tables.set(
      owner,
      await query<{ sequence: number; id: string }>(db, {
        name: 'faults.events',
        text: `select sequence::int as sequence, 'evt_' || replace(user_id::text, '-', '') || '_' || sequence as id
          from events where user_id = $1 order by sequence`,
        values: [owner],
      }),
    )
  return tables
}

async function untilRead(
  tables: ReadonlyMap<string, Read>,
  reads: readonly ReadonlyMap<string, Read>[],
): Promise<void> {
  const isBehind = () =>
    reads.some((read) => [...tables].some(([owner, rows]) => (read.get(owner)?.length ?? 0) < rows.length))
  for (const end = performance.now() + restMs; isBehind() && performance.now() < end; ) await sleep(200)
}

function judge(
  { writers, archive }: Plan,
  {
    tables,
    polled,
    streamed,
    counts,
    kills,
    lost,
    times,
  }: {
    readonly tables: ReadonlyMap<string, Read>
    readonly polled: ReadonlyMap<string, Read>
    readonly streamed: ReadonlyMap<string, Read>
    readonly counts: ReadonlyMap<string, number>
    readonly kills: number
    readonly lost: number
    readonly times: Times
  },
): Report {
  const faults = [...tables].flatMap(([owner, rows]) => [
    ...(rows.every(({ sequence }, index) => sequence === index + 1)
      ? []
      : [`the log of ${owner} has a hole`]),
    ...(isDeepStrictEqual(polled.get(owner), rows) ? [] : [`polling and the log of ${owner} differ`]),
    ...(isDeepStrictEqual(streamed.get(owner), rows) ? [] : [`the stream and the log of ${owner} differ`]),
    ...rows
      .filter(({ id }) => !counts.has(`/good/${owner} ${id}`))
      .map(({ id }) => `no webhook brought ${id}`),
  ])
  if (lost !== 0) faults.push(`${lost} webhooks are not delivered`)
  const total = [...tables.values()].reduce((sum, rows) => sum + rows.length, 0)
  const sent = [...counts.values()].reduce((sum, count) => sum + count, 0)
  if (counts.size !== total) faults.push(`${counts.size} messages for ${total} events`)
  const [alone, archiving] = [percentile(times.alone, 0.99), percentile(times.archiving, 0.99)]
  const longest = percentile(times.archiving, 1)
  if (archive > 0 && (times.archiving.length === 0 || archiving > mostSlower * alone || longest > mostWaitMs))
    faults.push(
      `while a month was archived, ${times.archiving.length} transactions took ${(archiving / alone).toFixed(1)} times as long, ` +
        `and ${longest.toFixed(0)} ms at most`,
    )
  return {
    rows: [
      ['events in the logs', total],
      ['writers', writers],
      ['kills', kills],
      ['webhook messages', counts.size],
      ['repeats of them', sent - counts.size],
      ...(archive === 0
        ? []
        : [
            ['events archived meanwhile', archive] as const,
            ['ms of a transaction, p99', alone.toFixed(1)] as const,
            ['of that, while a month was archived', (archiving / alone).toFixed(2)] as const,
            ['ms of the longest one meanwhile', longest.toFixed(0)] as const,
          ]),
    ],
    faults,
    kept: 'polling, stream and webhooks gave the same events',
  }
}
