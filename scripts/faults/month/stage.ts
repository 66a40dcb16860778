import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Keypair } from '@solana/web3.js'
import type { Knex } from 'knex'
import { booksStatementMs } from '../../../src/ledger/invariants.js'
import { createDb } from '../../../src/platform/database/database.js'
import { webProgram, workersProgram } from '../../dev/built.js'
import { freePort } from '../../dev/ports.js'
import { respondsAt } from '../../dev/probe.js'
import { type Sandbox, startSandbox } from '../../sandbox/server.js'
import { sandboxSettings } from '../../sandbox/service-settings.js'
import { OperatorCommands } from '../acts/operator-commands.js'
import type { ServerUrls } from '../kill-payouts.js'
import { chooseKillPoint, type Role } from '../kill-points.js'
import { serviceSettings } from '../settings.js'
import type { TakeOutNeeds } from '../sweeps/take-outs.js'
import { createCreators, createPayer, createSupporter, type MonthCreator } from './people.js'
import { ServiceProcess } from './service-process.js'

/** The service in processes of its own, with all workers; chain, bank, mail server and rates in this process. */
export interface Stage {
  readonly url: string
  readonly db: Knex
  readonly sandbox: Sandbox
  readonly env: Readonly<Record<string, string>>
  readonly creators: readonly MonthCreator[]
  readonly supporters: readonly Keypair[]
  readonly treasury: Keypair
  /** Pays the fees of sweeps. */
  readonly payerFile: string
  readonly commands: OperatorCommands
  readonly takeOuts: TakeOutNeeds
  /** The logs of all processes. */
  readonly logs: string
  /** Where processes were killed so far. */
  readonly kills: string[]
  /** Kills a process where it is, by a number from 0 to 1. In half of the cases the next one is killed at a named point. */
  killOne(choice: number): void
  /** Every process, and where its metrics are when `metrics` was asked for. */
  readonly processes: readonly StageProcess[]
  /** Throws when a process has ended by itself. */
  throwFailure(): void
  /** Kills every process. */
  stopService(): Promise<void>
  /** Starts the service against another database, after `stopService`. Returns the stage with it; the one before is not used any more. */
  moveTo(databaseUrl: string): Promise<Stage>
  close(): Promise<void>
}

interface StageProcess {
  readonly name: string
  /** The host and port of `/metrics`. */
  readonly metrics: string
  readonly process: ServiceProcess
}

/** Naira per dollar at the beginning. */
export const firstRate = 1600
const slotMs = 100
const startMs = 120_000
const supporterCount = 8
/** Every operator's command that is not killed runs in the resident process. */
const never = Number.MAX_SAFE_INTEGER

/** A process, and the kill points that fit it. */
interface KilledProgram {
  readonly name: string
  readonly args: readonly string[]
  readonly roles: readonly [Role, ...Role[]]
}

const web: KilledProgram = { name: 'web', args: [webProgram], roles: ['web', 'web-take-outs'] }
const workers: readonly KilledProgram[] = [
  workerProcess('verifier', ['verifier', 'finder'], ['verifier']),
  workerProcess('settlement', ['settlement', 'mailer', 'provisioner'], ['settlement']),
  workerProcess('payouts', ['payouts', 'reconciler'], ['payouts', 'reconciler']),
  workerProcess('custodian', ['custodian', 'take-outs', 'clock'], ['custodian']),
]

function workerProcess(
  name: string,
  workers: readonly string[],
  roles: KilledProgram['roles'],
): KilledProgram {
  return { name, args: [workersProgram, ...workers], roles }
}

/** What differs from a month of one web process. */
export interface StageOptions {
  /** Where the service finds its database, when that is not the way on which the results are read. */
  readonly serviceDatabaseUrl?: string
  readonly webs?: number
  /** Listens in front of the web processes. Closed by the caller. */
  readonly front?: (webs: readonly string[]) => Promise<{ readonly url: string }>
  /** Settings of the service. */
  readonly env?: (sandbox: Sandbox) => Readonly<Record<string, string>>
  /** Further settings of one process: `web-0`, `verifier`, `settlement`, `payouts`, `custodian`. */
  readonly envOf?: (process: string, sandbox: Sandbox) => Readonly<Record<string, string>>
  /** Every process has a port of its own for its metrics. */
  readonly metrics?: boolean
  /** A process that ends by itself is started again, as a supervisor does. */
  readonly restarts?: boolean
  /** Creators without payout wallets take nothing out. */
  readonly payoutWallets?: boolean
}

export async function openStage(
  servers: ServerUrls,
  seed: number,
  creatorCount: number,
  options: StageOptions = {},
): Promise<Stage> {
  const { webs = 1, front, restarts = false, payoutWallets = true, metrics = false } = options
  const treasury = Keypair.generate()
  const treasuryWallet = treasury.publicKey.toBase58()
  const sandbox = await startSandbox({ port: 0, slotMs, treasury: treasuryWallet, fiatpayFees: true })
  const db = createDb(servers.databaseUrl, 4, booksStatementMs)
  const ports = await Promise.all(Array.from({ length: webs }, freePort))
  const [port = 0] = ports
  const webUrls = ports.map((each) => `http://127.0.0.1:${each}`)
  const url = (await front?.(webUrls))?.url ?? `http://127.0.0.1:${port}`
  const { serviceDatabaseUrl: databaseUrl = servers.databaseUrl } = options
  const env = {
    ...settingsFor({ ...servers, databaseUrl }, sandbox, port, treasuryWallet),
    PUBLIC_URL: url,
    ...options.env?.(sandbox),
  }
  const logs = mkdtempSync(join(tmpdir(), 'tipping-month-'))
  const kills: string[] = []
  let failure: unknown
  const onFailure = (error: unknown): void => {
    failure ??= error
  }
  const onKill = async ({ name, at }: { name: string; at: string }): Promise<void> => {
    kills.push(`${name} ${at}`)
    // Where the database does not answer, the leases end by themselves.
    if (name.startsWith('web')) await releaseKeys(db).catch(() => undefined)
  }
  sandbox.rates.set({ NGN: firstRate })
  sandbox.fiatpay.webhooks.setUrl(`${url}/webhooks/fiatpay`)
  sandbox.fiatpay.faults.setFault(bankFaults(seed))
  const all = [
    ...ports.map((each, n) => ({
      ...web,
      name: `web-${n}`,
      own: { PORT: String(each) },
      portSetting: 'METRICS_PORT',
    })),
    ...workers.map((one) => ({ ...one, own: {}, portSetting: 'WORKER_PORT' })),
  ]
  const metricsPorts = new Map<string, string>()
  if (metrics) for (const { name } of all) metricsPorts.set(name, String(await freePort()))
  const start = (settings: Readonly<Record<string, string>>): StageProcess[] =>
    all.map(({ name, args, own, portSetting }) => {
      const metricsPort = metricsPorts.get(name)
      const given = metricsPort === undefined ? {} : { [portSetting]: metricsPort }
      const ofProcess = { ...settings, ...own, ...given, ...options.envOf?.(name, sandbox) }
      const logFile = join(logs, `${name}.log`)
      const process = new ServiceProcess({ name, args, env: ofProcess, logFile, restarts, onKill, onFailure })
      return { name, metrics: `127.0.0.1:${metricsPort}`, process }
    })
  let running = start(env)
  // Beside a pooler, and with the connections that are kept for superusers.
  const commands = new OperatorCommands({ ...env, DATABASE_URL: servers.databaseUrl }, never)
  const throwFailure = (): void => {
    if (failure !== undefined) throw failure
  }
  async function requireAnswer(): Promise<void> {
    for (const one of webUrls)
      if (!(await respondsAt(`${one}/ready`, startMs, () => failure === undefined)))
        throw failure ?? new Error(`a web process is not ready; the logs are in ${logs}`)
  }
  let killed = 0
  const opened = new Set([{ db, commands }])
  const stopService = async (): Promise<void> => {
    await Promise.all(running.map(({ process }) => process.end()))
  }
  async function close(): Promise<void> {
    await stopService()
    for (const one of opened) {
      await one.commands.close()
      await one.db.destroy()
    }
    await sandbox.close()
  }
  const takeOuts: TakeOutNeeds = {
    url,
    db,
    chain: sandbox.chain,
    readMails: async (email) => sandbox.mail.received(email).map(({ text }) => text),
  }
  try {
    await requireAnswer()
    const creators = await createCreators(takeOuts, creatorCount, payoutWallets)
    const stage: Stage = {
      url,
      db,
      sandbox,
      env,
      creators,
      supporters: Array.from({ length: supporterCount }, () => createSupporter(sandbox)),
      treasury,
      payerFile: createPayer(sandbox, logs),
      commands,
      takeOuts,
      logs,
      kills,
      killOne(choice) {
        const nth = Math.floor(choice * running.length)
        const roles = all[nth]?.roles ?? web.roles
        killed += 1
        const role = roles[killed % roles.length] ?? roles[0]
        running[nth]?.process.kill(killed % 2 === 0 ? chooseKillPoint(seed, role, killed) : undefined)
      },
      get processes() {
        return running
      },
      throwFailure,
      stopService,
      async moveTo(databaseUrl) {
        const moved = {
          env: { ...env, DATABASE_URL: databaseUrl },
          db: createDb(databaseUrl, 4, booksStatementMs),
          commands: new OperatorCommands({ ...env, DATABASE_URL: databaseUrl }, never),
        }
        opened.add(moved)
        running = start(moved.env)
        await requireAnswer()
        return { ...stage, ...moved, takeOuts: { ...takeOuts, db: moved.db } }
      },
      close,
    }
    return stage
  } catch (error) {
    await close()
    throw error
  }
}

/** What takes hours or days in a real month takes seconds here. */
function settingsFor(
  servers: ServerUrls,
  sandbox: Sandbox,
  port: number,
  treasuryWallet: string,
): Record<string, string> {
  return {
    ...serviceSettings(servers, { env: {} }, port, true),
    ...sandboxSettings(sandbox, treasuryWallet),
    // Twice, so that what expired needs no person.
    SOLANA_RPC_URLS: `${sandbox.url},${sandbox.url}`,
    LOG_LEVEL: 'warn',
    SWEEP_AFTER_HOURS: '0.0003',
    FIAT_OPEN_INTENTS: '1000000',
    PAYOUT_SECONDS: '2,0.1,2',
    WITHDRAW_WAIT_MS: '3000',
  }
}

/** Most transfers are ordinary. Some requests are answered too late or not at all, and some transfers fail at the bank. */
function bankFaults(seed: number) {
  return {
    seed,
    transfers: { auto: 90, 'accept-then-500': 3, 'accept-then-reset': 3, '500': 3, reject: 1 },
    outcomes: { success: 94, failed: 4, reversed: 2 },
    settleMs: 300,
    webhooks: { copies: 1 },
  } as const
}

/** Ends the leases of idempotency keys that a killed web process has left. */
async function releaseKeys(db: Knex): Promise<void> {
  await db('idempotency_keys')
    .whereNull('response')
    .update({ lease_until: new Date(0) })
}
