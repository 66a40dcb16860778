import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { type Composed, compose } from '../../src/compose.js'
import { loadConfig } from '../../src/platform/config/config.js'
import { printProgress } from '../bootstrap/progress.mjs'
import { confirmInventedTips, inventedWallet } from '../faults/invented-tips.js'
import { percentile } from '../kit/report.js'
import { serviceSettings } from '../kit/service-settings.js'
import {
  alternateOrder,
  type BenchOptions,
  type Column,
  median,
  outcomeOf,
  type Round,
  section,
} from './measurement.js'
import {
  type BenchServers,
  checkFileLimit,
  cpuOfServer,
  memoryOfServer,
  onServers,
  type Served,
  withFileLimit,
} from './servers.js'
import type { Order, Report } from './stream-clients.js'

const defaultClients = 10_000
const warmUps = 500
const eventsEach = 100
/** Files that a process has open besides its streams. */
const otherFiles = 500
const kib = 1024
const names = ['service', 'sockets'] as const
type Name = (typeof names)[number]

interface Measured {
  /** Growth of the server's resident memory for each client, in KiB: after opening or after the events, whichever is more. */
  readonly kibEach: number
  /** From the commit until the first client, and until the last one, had the event: medians of the events. */
  readonly firstMs: number
  readonly lastMs: number
  /** The 99th percentile of the last one. */
  readonly p99Ms: number
  /** CPU of the server in microseconds, for opening one stream and for sending one event to one client. */
  readonly openUs: number
  readonly sendUs: number
}

const columns: Column<Name, Measured>[] = [
  { head: 'KiB each', digits: 1, of: ({ kibEach }) => kibEach, better: 'lower' },
  { head: 'first ms', digits: 0, of: ({ firstMs }) => firstMs },
  { head: 'last ms', digits: 0, of: ({ lastMs }) => lastMs, better: 'lower' },
  { head: 'p99 ms', digits: 0, of: ({ p99Ms }) => p99Ms, better: 'lower' },
  { head: 'p99 of sockets', digits: 2, of: (own, { sockets }) => own.p99Ms / sockets.p99Ms },
  { head: 'us to open', digits: 0, of: ({ openUs }) => openUs, better: 'lower' },
  { head: 'us to send', digits: 1, of: ({ sendUs }) => sendUs, better: 'lower' },
]

interface Server extends Served {
  /** Causes one event. Resolves with the time of the monotonic clock in ms when it was committed. */
  sendEvent(): Promise<number>
}

/**
 * Ten thousand readers of one wallet on one process: memory for each, and how long the last one waits for an event. The peer is bare
 * sockets that share one buffer. Each round starts new processes, because memory that a process once had is not given back.
 */
export function benchStreams({ rounds = 5, clients = defaultClients }: BenchOptions) {
  return onServers(async (servers) => {
    const files = clients + otherFiles
    await checkFileLimit(files)
    const services = compose(loadConfig(serviceSettings(servers)), 'bench')
    servers.defer(() => services.close())
    const wallet = inventedWallet()
    const startOf: Record<Name, () => Promise<Server>> = {
      service: async () => {
        const started = await servers.serveWeb({}, files)
        return { ...started, sendEvent: () => confirmTip(services, wallet) }
      },
      sockets: () => startPeer(servers, files),
    }
    const results: Round<Name, Measured>[] = []
    for (let round = 1; round <= rounds; round++) {
      printProgress(`round ${round} of ${rounds}`)
      const service = await Readers.open(await startOf.service(), wallet, clients, files)
      const sockets = await Readers.open(await startOf.sockets(), wallet, clients, files)
      const readers = { service, sockets }
      // Their events alternate: what else the machine does is the same for both.
      for (let event = 1; event <= eventsEach; event++)
        for (const name of alternateOrder(names, event)) await readers[name].receive()
      results.push({ service: await service.end(), sockets: await sockets.end() })
    }
    return outcomeOf(
      results,
      [section('', results, columns, { streams: 'service' })],
      `${eventsEach} events`,
      'goals: at most 8 KiB each; p99 until the last client has an event: 100 ms, or 1.2 of the sockets if that is more',
      `${clients} clients of one wallet on one process`,
    )
  })
}

async function startPeer(servers: BenchServers, files: number): Promise<Server> {
  const url = await servers.serve('sockets', ['dist/scripts/bench/peers.js', 'sockets'], {}, files)
  const sendEvent = async (): Promise<number> => {
    const sentAt = clockMs()
    await (await fetch(`${url}/event`, { method: 'POST' })).text()
    return sentAt
  }
  return { url, metricsUrl: url, sendEvent }
}

async function confirmTip(services: Composed, wallet: string): Promise<number> {
  await confirmInventedTips(services, wallet, [null])
  // The notification was handed to Redis just now, after the commit.
  return clockMs()
}

/** A server with its clients. */
class Readers {
  readonly #server: Server
  readonly #count: number
  readonly #clients: Clients
  readonly #before: Used
  readonly #opened: Used
  readonly #received: Received[] = []

  static async open(server: Server, wallet: string, count: number, files: number): Promise<Readers> {
    const stream = `${server.url}/chain/tips/stream?wallet=${wallet}`
    const first = await Clients.open(stream, warmUps, files)
    await first.receive(server.sendEvent)
    first.close()
    const before = await usedBy(server)
    const clients = await Clients.open(stream, count, files)
    return new Readers(server, count, clients, before, await usedBy(server))
  }

  private constructor(server: Server, count: number, clients: Clients, before: Used, opened: Used) {
    this.#server = server
    this.#count = count
    this.#clients = clients
    this.#before = before
    this.#opened = opened
  }

  async receive(): Promise<void> {
    this.#received.push(await this.#clients.receive(this.#server.sendEvent))
  }

  async end(): Promise<Measured> {
    const [count, before, opened] = [this.#count, this.#before, this.#opened]
    const after = await usedBy(this.#server)
    this.#clients.close()
    const lastMs = this.#received.map((event) => event.lastMs)
    return {
      kibEach: (Math.max(opened.bytes, after.bytes) - before.bytes) / kib / count,
      firstMs: median(this.#received.map(({ firstMs }) => firstMs)),
      lastMs: median(lastMs),
      p99Ms: percentile(lastMs, 0.99),
      openUs: ((opened.seconds - before.seconds) * 1e6) / count,
      sendUs: ((after.seconds - opened.seconds) * 1e6) / count / eventsEach,
    }
  }
}

interface Used {
  readonly bytes: number
  readonly seconds: number
}

async function usedBy({ metricsUrl }: Server): Promise<Used> {
  // The first reading has freed what the second one counts.
  const [seconds, bytes] = [await cpuOfServer(metricsUrl), await memoryOfServer(metricsUrl)]
  return { bytes, seconds }
}

interface Received {
  readonly firstMs: number
  readonly lastMs: number
}

/** The process of the clients. */
class Clients {
  readonly #child: ChildProcess
  readonly #ended: Promise<never>

  static async open(url: string, count: number, files: number): Promise<Clients> {
    const { command, args } = withFileLimit(files, ['dist/scripts/bench/stream-clients.js'])
    const child = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
    const clients = new Clients(child)
    await clients.#ask({ open: { url, count } })
    return clients
  }

  private constructor(child: ChildProcess) {
    this.#child = child
    this.#ended = once(child, 'exit').then(() => {
      throw new Error('the process of the clients has ended')
    })
    this.#ended.catch(() => undefined)
  }

  /** Causes one event and waits until every client has it. */
  async receive(sendEvent: () => Promise<number>): Promise<Received> {
    await this.#ask('awaitEvent')
    const [sentAt, { first = 0, last = 0 }] = await Promise.all([sendEvent(), this.#report()])
    return { firstMs: first - sentAt, lastMs: last - sentAt }
  }

  close(): void {
    this.#child.kill('SIGKILL')
  }

  #ask(order: Order): Promise<Report> {
    const report = this.#report()
    this.#child.send(order)
    return report
  }

  async #report(): Promise<Report> {
    const next = once(this.#child, 'message') as Promise<[Report]>
    const [report] = await Promise.race([next, this.#ended])
    if (report.failed !== undefined) throw new Error(`a client failed: ${report.failed}`)
    return report
  }
}

function clockMs(): number {
  return Number(process.hrtime.bigint()) / 1e6
}
