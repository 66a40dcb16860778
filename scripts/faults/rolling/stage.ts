import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Keypair } from '@solana/web3.js'
import type { Knex } from 'knex'
import { createDb } from '../../../src/platform/database/database.js'
import { webProgram, workersProgram } from '../../dev/built.js'
import { freePort } from '../../dev/ports.js'
import { waitUntil } from '../../dev/wait-until.js'
import { requestAirdrop } from '../../sandbox/chain/faucet.js'
import { type Sandbox, startSandbox } from '../../sandbox/server.js'
import { sandboxSettings } from '../../sandbox/service-settings.js'
import type { ServerUrls } from '../kill-payouts.js'
import { serviceSettings } from '../settings.js'
import { Load, type RequestKind } from './load.js'
import { startNginx } from './nginx.js'
import { brokenStreams, confirmedStamps, owedTo, streamFaults } from './owed-events.js'
import { ReverseProxy, type Router } from './proxy.js'
import { Service } from './service.js'
import { StreamClient } from './stream-client.js'

export interface StagePlan {
  readonly seed: number
  /** Requests that begin in a second. */
  readonly perSecond: number
  /** Open event streams. */
  readonly readers: number
  /** The worker processes, each with the names that it runs. */
  readonly workers: readonly (readonly string[])[]
  /** How often the proxy reads `/ready`, or nginx as a release ships it, which does not. */
  readonly router: { readonly pollMs: number } | 'nginx'
  /** The folder of the release that runs first. */
  readonly folder: string
  /** In place of the stage's own. */
  readonly settings?: Readonly<Record<string, string>>
}

/** Two web processes behind the proxy, and workers; chain, bank, mail server and rates in this process. Under load. */
export interface Stage {
  readonly webs: readonly Service[]
  readonly workers: readonly Service[]
  readonly proxy: Router
  readonly load: Load
  readonly sandbox: Sandbox
  readonly env: Readonly<Record<string, string>>
  /** The logs of all processes. */
  readonly logs: string
  /** Waits until the proxy sends requests to so many processes. */
  untilReady(count: number): Promise<void>
  /** Waits until so many requests were sent. */
  untilSent(count: number): Promise<void>
  /** Ends the load, waits for the last events and compares them with the database. */
  finish(): Promise<Outcome>
  close(): Promise<void>
}

export interface Outcome {
  readonly requests: number
  readonly failed: number
  readonly byKind: Readonly<Record<RequestKind, readonly number[]>>
  readonly recorded: number
  readonly events: number
  readonly connections: number
  /** Empty: no request failed, no stream broke, no event is missing, doubled or in the wrong place. */
  readonly faults: readonly string[]
}

const webCount = 2
const walletCount = 4
const slotMs = 100
const startLamports = 1_000_000_000n
const waitMs = 120_000

export async function openStage(servers: ServerUrls, plan: StagePlan): Promise<Stage> {
  const treasury = Keypair.generate().publicKey.toBase58()
  const sandbox = await startSandbox({ port: 0, slotMs, treasury })
  sandbox.rates.set({ NGN: 1600 })
  const db = createDb(servers.databaseUrl, 2)
  const env = { ...settingsFor(servers, sandbox, treasury), ...plan.settings }
  const logs = mkdtempSync(join(tmpdir(), 'tipping-rolling-'))
  const webs = await Promise.all(
    Array.from({ length: webCount }, (_, index) => service(`web-${index}`, [webProgram], 'PORT')),
  )
  const workers = await Promise.all(
    plan.workers.map((names) => service(names.join('-'), [workersProgram, ...names], 'WORKER_PORT')),
  )
  const wallets = Array.from({ length: walletCount }, () => Keypair.generate().publicKey.toBase58())
  for (const wallet of wallets) requestAirdrop(sandbox.chain, wallet, startLamports)
  const urls = webs.map(({ url }) => url)
  let proxy: Router | undefined
  let load: Load | undefined
  let readers: StreamClient[] = []

  async function service(name: string, args: readonly string[], portSetting: string): Promise<Service> {
    const port = await freePort()
    const own = { ...env, [portSetting]: String(port) }
    const logFile = join(logs, `${name}.log`)
    return new Service({ name, args, env: own, url: `http://127.0.0.1:${port}`, logFile })
  }
  async function wait(what: string, condition: () => boolean | Promise<boolean>): Promise<void> {
    if (!(await waitUntil(condition, waitMs))) throw new Error(`${what}: not within ${waitMs / 1000} s`)
  }
  async function close(): Promise<void> {
    for (const reader of readers) reader.close()
    for (const process of [...webs, ...workers]) process.kill()
    await load?.stop()
    await proxy?.close()
    await db.destroy()
    await sandbox.close()
  }
  try {
    for (const process of [...webs, ...workers]) await process.start(plan.folder)
    const router =
      plan.router === 'nginx' ? await startNginx(urls) : await ReverseProxy.listen(urls, plan.router.pollMs)
    proxy = router
    const untilReady = (count: number) =>
      wait(`${count} processes get requests`, () => router.readyCount === count)
    await untilReady(webCount)
    readers = Array.from(
      { length: plan.readers },
      (_, index) => new StreamClient(router.url, wallets[index % walletCount] ?? ''),
    )
    await wait('all streams are open', () => readers.every(({ owedAfter }) => owedAfter !== undefined))
    const running = new Load({
      url: router.url,
      sandbox,
      seed: plan.seed,
      wallets,
      perSecond: plan.perSecond,
    })
    load = running
    return {
      webs,
      workers,
      proxy: router,
      load: running,
      sandbox,
      env,
      logs,
      untilReady,
      untilSent: (count) => wait(`${count} requests`, () => running.count >= count),
      async finish() {
        await running.stop()
        const lost: string[] = []
        await wait(
          'all tips are confirmed',
          async () => (await countUnconfirmed(db, running.recorded)) === 0,
        ).catch((error) => lost.push(String(error)))
        const stamps = await confirmedStamps(db, wallets)
        const complete = () => readers.every((reader) => reader.ids.length >= owedTo(reader, stamps).length)
        await waitUntil(complete, waitMs)
        return outcomeOf(running, readers, stamps, lost)
      },
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

function settingsFor(servers: ServerUrls, sandbox: Sandbox, treasury: string): Record<string, string> {
  return {
    ...serviceSettings(servers, { env: {} }, 0, true),
    ...sandboxSettings(sandbox, treasury),
    LOG_LEVEL: 'warn',
    // A proxy is in front: a process that stops drains.
    TRUST_PROXY: 'true',
  }
}

async function countUnconfirmed(db: Knex, signatures: readonly string[]): Promise<number> {
  const { rows } = await db.raw<{ rows: { count: number }[] }>(
    `select count(*)::int as count from unnest(?::text[]) as s(id)
     where not exists (select from tips t where t.id = s.id and t.status = 'confirmed')`,
    [[...signatures]],
  )
  return rows[0]?.count ?? 0
}

function outcomeOf(
  load: Load,
  readers: readonly StreamClient[],
  stamps: ReadonlyMap<string, number[]>,
  lost: readonly string[],
): Outcome {
  const failed = load.failed === 0 ? [] : [`${load.failed} requests failed`, ...load.faults]
  return {
    requests: load.count,
    failed: load.failed,
    byKind: load.answered,
    recorded: load.recorded.length,
    events: readers.reduce((sum, { ids }) => sum + ids.length, 0),
    connections: readers.reduce((sum, { connections }) => sum + connections, 0),
    faults: [...failed, ...lost, ...streamFaults(readers, stamps), ...brokenStreams(readers)],
  }
}
