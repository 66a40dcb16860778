import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { type Composed, compose } from '../../src/compose.js'
import { loadConfig } from '../../src/platform/config/config.js'
import { confirmInventedTips, inventedWallet } from '../faults/invented-tips.js'
import { serviceSettings } from '../kit/service-settings.js'
import { type BenchOptions, type Column, measureRounds, median, outcomeOf, section } from './measurement.js'
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
const eventsEach = 5
/** Files that a process has open besides its streams. */
const otherFiles = 500
const kib = 1024
const names = ['service', 'koa'] as const
type Name = (typeof names)[number]

interface Measured {
  /** Growth of the server's resident memory for each client, in KiB. */
  readonly kibEach: number
  /** From the commit until half of the clients, and until the last one, had the event. */
  readonly halfMs: number
  readonly lastMs: number
  /** CPU of the server in microseconds, for opening one stream and for sending one event to one client. */
  readonly openUs: number
  readonly sendUs: number
}

const columns: Column<Name, Measured>[] = [
  { head: 'KiB each', digits: 1, of: ({ kibEach }) => kibEach, better: 'lower' },
  { head: 'of koa', digits: 2, of: (own, { koa }) => own.kibEach / koa.kibEach },
  { head: 'half ms', digits: 0, of: ({ halfMs }) => halfMs },
  { head: 'last ms', digits: 0, of: ({ lastMs }) => lastMs, better: 'lower' },
  { head: 'last of koa', digits: 2, of: (own, { koa }) => own.lastMs / koa.lastMs },
  { head: 'us to open', digits: 0, of: ({ openUs }) => openUs, better: 'lower' },
  { head: 'us to send', digits: 1, of: ({ sendUs }) => sendUs, better: 'lower' },
]

interface Server extends Served {
  /** Causes one event. Resolves with the time of the monotonic clock in ms when it was committed. */
  sendEvent(): Promise<number>
}

/**
 * Ten thousand readers of one wallet on one process: memory for each, and how long the last one waits for an event. The peer is a bare
 * Koa server. Each round starts new processes, because memory that a process once had is not given back.
 */
export function benchStreams({ rounds = 3, clients = defaultClients }: BenchOptions) {
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
      koa: () => startPeer(servers, files),
    }
    const results = await measureRounds(names, rounds, async (name) =>
      measure(await startOf[name](), wallet, clients, files),
    )
    return outcomeOf(
      results,
      [section('', results, columns, { streams: 'service' })],
      `${eventsEach} events`,
      'goals: at most 10 KiB each and 100 ms until the last client has an event',
      `${clients} clients of one wallet on one process`,
    )
  })
}

async function startPeer(servers: BenchServers, files: number): Promise<Server> {
  const url = await servers.serve('koa', ['dist/scripts/bench/peers.js', 'koa'], {}, files)
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

async function measure(server: Server, wallet: string, clients: number, files: number): Promise<Measured> {
  const stream = `${server.url}/chain/tips/stream?wallet=${wallet}`
  const first = await Clients.open(stream, warmUps, files)
  await first.receive(server.sendEvent)
  first.close()
  const before = await Promise.all([memoryOfServer(server.metricsUrl), cpuOfServer(server.metricsUrl)])
  const all = await Clients.open(stream, clients, files)
  const opened = await cpuOfServer(server.metricsUrl)
  const received: Received[] = []
  for (let event = 0; event < eventsEach; event++) received.push(await all.receive(server.sendEvent))
  const after = await Promise.all([memoryOfServer(server.metricsUrl), cpuOfServer(server.metricsUrl)])
  all.close()
  return {
    kibEach: (after[0] - before[0]) / kib / clients,
    halfMs: median(received.map(({ halfMs }) => halfMs)),
    lastMs: median(received.map(({ lastMs }) => lastMs)),
    openUs: ((opened - before[1]) * 1e6) / clients,
    sendUs: ((after[1] - opened) * 1e6) / clients / eventsEach,
  }
}

interface Received {
  readonly halfMs: number
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
    const [sentAt, { half = 0, last = 0 }] = await Promise.all([sendEvent(), this.#report()])
    return { halfMs: half - sentAt, lastMs: last - sentAt }
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
