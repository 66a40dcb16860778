import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Composed, compose } from '../../src/compose.js'
import { createApiKey } from '../../src/creators/api-keys.js'
import { loadConfig } from '../../src/platform/config/config.js'
import { markSeen } from '../../src/platform/database/restore-guard.js'
import { openDataKeys } from '../../src/privacy/keys/open-data-keys.js'
import { createEventParser } from '../../src/sdk/client/sse-parser.js'
import { freePort } from '../dev/ports.js'
import { withConnection } from '../dev/postgres/session.js'
import { waitUntil } from '../dev/wait-until.js'
import { requestOnce } from '../kit/client.js'
import { withClosing } from '../kit/closing.js'
import { startPrimary } from '../kit/debian-postgres.js'
import { Draw } from '../kit/draw.js'
import { countBy, percentile, type Report, sortedRows } from '../kit/report.js'
import { startRedis } from '../kit/servers.js'
import { serviceSettings } from '../kit/service-settings.js'
import { startTcpProxy } from '../kit/tcp-proxy.js'
import { startWeb } from './events.js'
import { confirmInventedTips, inventedWallet } from './invented-tips.js'
import { createOwners } from './webhooks.js'

interface Plan {
  readonly rounds: number
  /** Tips a second. */
  readonly rate: number
  /** Seconds. */
  readonly lag: number
  readonly seed: number
  readonly report: (text: string) => void
}

interface Creator {
  readonly wallet: string
  readonly apiKey: string
  /** The tips that were shown to anybody, in about the order in which they were confirmed. */
  readonly known: Set<string>
}

interface Stage {
  readonly services: Composed
  readonly creators: readonly Creator[]
  readonly webUrls: readonly string[]
  readonly draw: Draw
  readonly signal: AbortSignal
  readonly faults: string[]
  /** What readers have got, and how long each took. */
  readonly answers: { readonly what: string; readonly phase: string; readonly ms: number }[]
  phase: string
}

const creatorCount = 3
/** Transactions at once. */
const writers = 6
/** The list has 50. Some were recorded in another order than they were confirmed in. */
const newest = 20
const pauseMs = 100
const awayMs = 8000
/** On a loaded machine. */
const restMs = 120_000
const streamMs = 10_000

/**
 * Tips are confirmed by one process and read through two web processes whose standby falls behind, hangs, is killed, and is promoted. Whoever
 * reads must be shown every tip that was shown to anybody before: by the answer to the confirmation, or in an answer to any reader.
 */
export function runReads({ rounds, rate, lag, seed, report }: Plan): Promise<Report> {
  return withClosing(async (defer) => {
    const folder = mkdtempSync(join(tmpdir(), 'tipping-reads-'))
    defer(() => rmSync(folder, { recursive: true, force: true }))
    chmodSync(folder, 0o711)
    const { primary, nextFolder } = await startPrimary(folder, defer)
    let standby = await primary.copy(nextFolder())
    defer(() => standby.kill())
    await standby.start()
    const address = await startTcpProxy(standby.url)
    defer(() => address.close())
    const env = {
      ...serviceSettings({ databaseUrl: primary.url, redisUrl: await startRedis(folder, defer) }),
      DATABASE_READ_URL: address.url.replace(/\/\/[^@]*@/, '//'),
      MODE: 'test',
    }
    const services = compose(loadConfig({ ...env, DATABASE_READ_URL: '' }), 'faults')
    defer(() => services.close())
    await openDataKeys(services.db, services.config.dataKeys)
    await markSeen(services.db)
    const metricsPorts = [await freePort(), await freePort()]
    const webs = await Promise.all(
      metricsPorts.map((port, nth) =>
        startWeb({ ...env, METRICS_PORT: String(port) }, join(folder, `web-${nth}.log`), defer),
      ),
    )
    const ending = new AbortController()
    const stage: Stage = {
      services,
      creators: await createCreators(services),
      webUrls: webs.map(({ url }) => url),
      draw: new Draw(seed),
      signal: ending.signal,
      faults: [],
      answers: [],
      phase: 'well',
    }
    const counts = async () => sumReads(await Promise.all(metricsPorts.map(readMetrics)))
    const going = [
      ...Array.from({ length: writers }, () => giveTips(stage, rate)),
      ...stage.creators.flatMap((creator) =>
        [readList, readEvents, readStream].map((read) => keepReading(stage, creator, read)),
      ),
    ]
    defer(() => ending.abort())

    const untilServed = async () => {
      const before = (await counts())['served'] ?? 0
      const isServed = async () => ((await counts())['served'] ?? 0) > before + 50
      if (!(await waitUntil(isServed, restMs)))
        stage.faults.push(`no reads by the standby again: ${stage.phase}`)
      stage.phase = 'well'
    }
    const onStandby = (sql: string) => withConnection(standby.url, (client) => client.query(sql))
    const disturbances: Readonly<Record<string, () => Promise<void>>> = {
      behind: async () => {
        await onStandby(`alter system set recovery_min_apply_delay = '${lag}s'`)
        await onStandby('select pg_reload_conf()')
        await sleep(1000 * lag + awayMs)
        await onStandby('alter system reset recovery_min_apply_delay')
        await onStandby('select pg_reload_conf()')
      },
      hung: async () => {
        address.hold(true)
        await sleep(awayMs)
        address.hold(false)
      },
      killed: async () => {
        await standby.kill()
        await sleep(awayMs)
        await standby.start()
      },
      promoted: async () => {
        await standby.promote()
        // What nobody may be shown.
        await onStandby('update tips set listed = false')
        await onStandby('delete from events')
        await sleep(awayMs)
        const promoted = standby
        standby = await primary.copy(nextFolder())
        await standby.start()
        address.moveTo(standby.url)
        address.cut()
        await promoted.kill()
      },
    }
    for (let round = 1; round <= rounds; round++)
      for (const [name, disturb] of Object.entries(disturbances)) {
        await untilServed()
        await sleep(awayMs)
        report(`round ${round}: the standby is ${name}; ${stage.answers.length} answers so far`)
        stage.phase = name
        await disturb()
      }
    await untilServed()
    ending.abort()
    await Promise.all(going)
    return {
      rows: [
        ['tips', stage.creators.reduce((sum, { known }) => sum + known.size, 0)],
        ...sortedRows(countBy(stage.answers.map(({ what }) => what)), 'answers: '),
        ...sortedRows(await counts(), 'reads of both processes: '),
        ...['well', ...Object.keys(disturbances)].map((name) => timesOf(stage, name)),
      ],
      faults: stage.faults,
      kept: 'every reader was shown every tip that had been shown to anybody before, and every request was answered',
    }
  })
}

async function createCreators(services: Composed): Promise<Creator[]> {
  const owners = await createOwners(services, creatorCount)
  return Promise.all(
    owners.map(async (userId) => {
      const wallet = inventedWallet()
      await services.db('parties').insert({ user_id: userId, wallet })
      const { apiKey } = await createApiKey(services, userId, undefined)
      return { wallet, apiKey, known: new Set<string>() }
    }),
  )
}

/** A tip is known when its confirmation is answered. A machine that is too slow gives fewer. */
async function giveTips({ services, creators, draw, signal }: Stage, rate: number): Promise<void> {
  const pace = (1000 * writers) / rate
  while (!signal.aborted) {
    const startedAt = performance.now()
    const { wallet, known } = draw.oneOf(creators)
    for (const id of await confirmInventedTips(services, wallet, [null])) known.add(id)
    await sleep(Math.max(0, pace - (performance.now() - startedAt)))
  }
}

/** Reads once through a web process, and notes what the reader was shown. Returns what it should have been shown and was not. */
type Read = (
  url: string,
  creator: Creator,
  shown: Set<string>,
  owed: readonly string[],
) => Promise<string | undefined>

async function keepReading(stage: Stage, creator: Creator, read: Read): Promise<void> {
  const { webUrls, draw, signal, faults, answers } = stage
  const shown = new Set<string>()
  while (!signal.aborted) {
    const owed = [...creator.known]
    const { phase } = stage
    const startedAt = performance.now()
    const fault = await read(draw.oneOf(webUrls), creator, shown, owed)
    answers.push({ what: read.name, phase, ms: performance.now() - startedAt })
    if (fault !== undefined) faults.push(`${read.name}, the standby is ${phase}: ${fault}`)
    for (const id of shown) creator.known.add(id)
    await sleep(pauseMs * draw.next() * 2)
  }
}

/** The newest of what is owed, unless as many tips have come since. */
const readList: Read = async (url, { wallet }, shown, owed) => {
  const { status, body } = await requestOnce(url, ['GET', `/chain/tips?address=${wallet}`])
  if (status !== 200) return `status ${status}`
  const ids = new Set((body['tips'] as { signature: string }[]).map(({ signature }) => signature))
  const known = new Set(owed)
  for (const id of ids) shown.add(id)
  const newer = [...ids].filter((id) => !known.has(id)).length
  return newer > newest ? undefined : missing(owed.slice(-newest), ids)
}

const readEvents: Read = async (url, { apiKey }, shown, owed) => {
  for (;;) {
    const path = `/creators/events?types=tip.confirmed&after=${cursors.get(shown) ?? 0}&limit=100`
    const { status, body } = await requestOnce(url, ['GET', path], { authorization: `Bearer ${apiKey}` })
    if (status !== 200) return `status ${status}`
    for (const { data } of body['events'] as { data: { signature: string } }[]) shown.add(data.signature)
    cursors.set(shown, Number(body['after']))
    if (body['hasMore'] !== true) return missing(owed, shown)
  }
}

/** A connection that begins after the last event it got, and ends when it has what is owed. */
const readStream: Read = async (url, { wallet }, shown, owed) => {
  const signal = AbortSignal.timeout(streamMs)
  try {
    const response = await fetch(`${url}/chain/tips/stream?wallet=${wallet}`, {
      headers: { 'last-event-id': String(cursors.get(shown) ?? 0) },
      signal,
    })
    const parse = createEventParser()
    for await (const bytes of response.body ?? []) {
      for (const { id, data } of parse(new TextDecoder().decode(bytes))) {
        const { eventId } = JSON.parse(data ?? '{}') as { eventId?: string }
        if (eventId === undefined) continue
        shown.add(eventId)
        cursors.set(shown, Number(id))
      }
      if (missing(owed, shown) === undefined) return undefined
    }
    return `ended; ${missing(owed, shown)}`
  } catch (error) {
    return signal.aborted ? missing(owed, shown) : String(error)
  }
}

/** Where a reader goes on. */
const cursors = new WeakMap<Set<string>, number>()

function missing(owed: readonly string[], shown: ReadonlySet<string>): string | undefined {
  const lacking = owed.filter((id) => !shown.has(id)).length
  return lacking === 0 ? undefined : `lacks ${lacking} of ${owed.length}`
}

async function readMetrics(port: number): Promise<Record<string, number>> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  const lines = [...text.matchAll(/^tipping_reads_total\{standby="(\w+)"\} (\d+)/gm)]
  return Object.fromEntries(lines.map(([, name, count]) => [name, Number(count)]))
}

function sumReads(all: readonly Record<string, number>[]): Record<string, number> {
  const sums: Record<string, number> = {}
  for (const counts of all)
    for (const [name, count] of Object.entries(counts)) sums[name] = (sums[name] ?? 0) + count
  return sums
}

/** Of lists and polls: a stream waits for what it is owed. */
function timesOf({ answers }: Stage, phase: string): readonly [string, string] {
  const times = answers.filter((one) => one.phase === phase && one.what !== 'readStream').map(({ ms }) => ms)
  const at = (share: number): string => `${Math.round(percentile(times, share))}`
  return [`${times.length} answers while ${phase}: ms`, `${at(0.5)} median, ${at(0.99)} p99, ${at(1)} most`]
}
