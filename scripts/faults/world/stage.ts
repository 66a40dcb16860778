import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Keypair } from '@solana/web3.js'
import type { Knex } from 'knex'
import type { z } from 'zod'
import { booksStatementMs } from '../../../src/ledger/invariants.js'
import { createDb } from '../../../src/platform/database/database.js'
import type { ProcessName } from '../../../workers/registry.js'
import { webProgram, workersProgram } from '../../dev/built.js'
import { freePort } from '../../dev/ports.js'
import { respondsAt } from '../../dev/probe.js'
import type { Defer } from '../../kit/closing.js'
import { chooseKillPoint, type Role } from '../../kit/kill-points.js'
import { OperatorCommands } from '../../kit/operator-commands.js'
import type { ServerUrls } from '../../kit/servers.js'
import { ServiceProcess } from '../../kit/service-process.js'
import { serviceSettings } from '../../kit/service-settings.js'
import type { faultSchema } from '../../sandbox/fiatpay/faults.js'
import { type Sandbox, startSandbox } from '../../sandbox/server.js'
import { sandboxSettings } from '../../sandbox/service-settings.js'
import { createCreators, createPayer, createSupporter, type WorldCreator } from './people.js'
import type { TakeOutNeeds } from './take-outs.js'

/** How the bank behaves. */
export type Fault = z.output<typeof faultSchema>

/** The service in processes of its own; chain, bank, mail server and rates in this process. */
export interface Stage {
  readonly url: string
  /** Of each web process. */
  readonly webUrls: readonly string[]
  readonly db: Knex
  readonly sandbox: Sandbox
  readonly env: Readonly<Record<string, string>>
  readonly creators: readonly WorldCreator[]
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
  /** The web processes, then the workers. */
  readonly processes: readonly ServiceProcess[]
  /** Another process of the service, or a command, that is killed as they are. It is not started yet. */
  addProcess(name: string, args: readonly string[], role: Role, lateMs: number): ServiceProcess
  /** Kills a process where it is, by a number from 0 to 1. In half of the cases the next one is killed at a named point. */
  killOne(choice: number): void
  /** Throws when a process has ended by itself. */
  throwFailure(): void
  /** Kills every process. */
  stopService(): Promise<void>
  /** Starts the service against another database, after `stopService`. Returns the stage with it; the one before is not used any more. */
  moveTo(databaseUrl: string): Promise<Stage>
}

export interface StageOptions {
  readonly creators: number
  /** Creators without payout wallets take nothing out. */
  readonly payoutWallets?: boolean
  readonly webs?: number
  /** The workers of each process, and the kill points that fit it. */
  readonly workers?: readonly WorkerGroup[]
  /** The kill points of web processes. */
  readonly webRoles?: readonly Role[]
  /** Where the service finds its database, when that is not the way on which the results are read. */
  readonly serviceDatabaseUrl?: string | undefined
  /** Listens in front of the web processes. */
  readonly front?: (webs: readonly string[]) => Promise<{ readonly url: string }>
  readonly env?: (sandbox: Sandbox) => Readonly<Record<string, string>>
  /** A process that ends by itself is started again, as a supervisor does. */
  readonly restarts?: boolean
  /** The folder of the release that runs first. */
  readonly folder?: string
  /** Web processes serve their metrics on ports of their own. */
  readonly metrics?: boolean
  /** How the bank behaves. Default: most transfers are ordinary, some are answered late or not at all, and some fail. */
  readonly bank?: Fault
  readonly slotMs?: number
}

export interface WorkerGroup {
  readonly names: readonly ProcessName[]
  readonly roles?: readonly Role[]
}

/** Naira per dollar at the beginning. */
export const firstRate = 1600
const usualSlotMs = 100
const supporterCount = 8
const readyMs = 60_000
const usualLateMs = 3000
/** Every operator's command that is not killed runs in the resident process. */
const never = Number.MAX_SAFE_INTEGER
const allWorkers: readonly WorkerGroup[] = [
  { names: ['verifier', 'finder'], roles: ['verifier'] },
  { names: ['settlement', 'mailer', 'provisioner'], roles: ['settlement'] },
  { names: ['payouts', 'reconciler'], roles: ['payouts', 'reconciler'] },
  { names: ['custodian', 'take-outs', 'clock'], roles: ['custodian'] },
]
const usualBank = {
  transfers: { auto: 90, 'accept-then-500': 3, 'accept-then-reset': 3, '500': 3, reject: 1 },
  outcomes: { success: 94, failed: 4, reversed: 2 },
  settleMs: 300,
  webhooks: { copies: 1 },
} as const

interface Program {
  readonly name: string
  readonly args: readonly string[]
  readonly roles: readonly Role[]
  readonly url: string
  readonly metricsUrl: string
  readonly own: Readonly<Record<string, string>>
}

export async function openStage(
  defer: Defer,
  servers: ServerUrls,
  seed: number,
  options: StageOptions,
): Promise<Stage> {
  const { webs = 1, workers = allWorkers, webRoles = ['web', 'web-take-outs'], front, restarts } = options
  const treasury = Keypair.generate()
  const treasuryWallet = treasury.publicKey.toBase58()
  const slotMs = options.slotMs ?? usualSlotMs
  const sandbox = await startSandbox({ port: 0, slotMs, treasury: treasuryWallet, fiatpayFees: true })
  defer(() => sandbox.close())
  const db = createDb(servers.databaseUrl, 4, booksStatementMs)
  defer(() => db.destroy())
  const programs = [
    ...(await webPrograms(webs, webRoles, options.metrics === true)),
    ...(await workerPrograms(workers)),
  ]
  const webUrls = programs.slice(0, webs).map((program) => program.url)
  const url = (await front?.(webUrls))?.url ?? webUrls[0] ?? ''
  const env = {
    ...serviceSettings({ ...servers, databaseUrl: options.serviceDatabaseUrl ?? servers.databaseUrl }),
    ...sandboxSettings(sandbox, treasuryWallet),
    ...quickerMonth(sandbox),
    PUBLIC_URL: url,
    ...options.env?.(sandbox),
  }
  const logs = mkdtempSync(join(tmpdir(), 'tipping-stage-'))
  const kills: string[] = []
  let failure: unknown
  let points = 0
  const watched = {
    async onKill({ name, at }: { name: string; at: string }): Promise<void> {
      kills.push(`${name} ${at}`)
      // Where the database does not answer, the leases end by themselves.
      if (name.startsWith('web')) await releaseKeys(db).catch(() => undefined)
    },
    onFailure(error: unknown): void {
      failure ??= error
    },
    ...(restarts && { restarts }),
  }
  const pointOf = (roles: readonly Role[]) => () => {
    points += 1
    return chooseKillPoint(seed, roles[points % roles.length] as Role, points)
  }
  sandbox.rates.set({ NGN: firstRate })
  sandbox.fiatpay.webhooks.setUrl(`${url}/webhooks/fiatpay`)
  sandbox.fiatpay.faults.setFault({ seed, ...(options.bank ?? usualBank) })
  const make = (settings: Readonly<Record<string, string>>) =>
    programs.map(
      ({ name, args, roles, own, ...addresses }) =>
        new ServiceProcess({
          ...watched,
          ...addresses,
          name,
          args,
          env: { ...settings, ...own },
          logFile: join(logs, `${name}.log`),
          lateMs: usualLateMs,
          choosePoint: pointOf(roles),
        }),
    )
  let running = make(env)
  const startAll = () => Promise.all(running.map((one) => one.start(options.folder)))
  const stopService = async () => void (await Promise.all(running.map((one) => one.end())))
  defer(stopService)
  // Beside a pooler, and with the connections that are kept for superusers.
  const commandsOn = (databaseUrl: string) => {
    const commands = new OperatorCommands({ ...env, DATABASE_URL: databaseUrl }, never)
    defer(() => commands.close())
    return commands
  }
  await startAll()
  // What is in front of them has seen it too.
  if (!(await respondsAt(`${url}/ready`, readyMs, () => failure === undefined)))
    throw failure ?? new Error(`${url} is not ready; the logs are in ${logs}`)
  let killed = 0
  const takeOuts: TakeOutNeeds = {
    url,
    db,
    chain: sandbox.chain,
    readMails: async (email) => sandbox.mail.received(email).map(({ text }) => text),
  }
  const stage: Stage = {
    url,
    webUrls,
    db,
    sandbox,
    env,
    creators: await createCreators(takeOuts, options.creators, options.payoutWallets !== false),
    supporters: Array.from({ length: supporterCount }, () => createSupporter(sandbox)),
    treasury,
    payerFile: createPayer(sandbox, logs),
    commands: commandsOn(servers.databaseUrl),
    takeOuts,
    logs,
    kills,
    get processes() {
      return running
    },
    addProcess: (name, args, role, lateMs) =>
      new ServiceProcess({
        ...watched,
        name,
        args,
        env,
        logFile: join(logs, `${name}.log`),
        lateMs,
        choosePoint: pointOf([role]),
        restarts: false,
        // Done, something waits for a person, or try again later.
        codes: [0, 4, 5],
      }),
    killOne(choice) {
      killed += 1
      running[Math.floor(choice * running.length)]?.kill(killed % 2 === 0)
    },
    throwFailure() {
      if (failure !== undefined) throw failure
    },
    stopService,
    async moveTo(databaseUrl) {
      const moved = createDb(databaseUrl, 4, booksStatementMs)
      defer(() => moved.destroy())
      const movedEnv = { ...env, DATABASE_URL: databaseUrl }
      running = make(movedEnv)
      await startAll()
      return {
        ...stage,
        db: moved,
        env: movedEnv,
        commands: commandsOn(databaseUrl),
        takeOuts: { ...takeOuts, db: moved },
      }
    },
  }
  return stage
}

function webPrograms(count: number, roles: readonly Role[], metrics: boolean): Promise<Program[]> {
  return Promise.all(
    Array.from({ length: count }, async (_, n) => {
      const [port, metricsPort] = [await freePort(), await freePort()]
      return {
        name: `web-${n}`,
        args: [webProgram],
        roles,
        url: `http://127.0.0.1:${port}`,
        metricsUrl: `http://127.0.0.1:${metricsPort}`,
        own: { PORT: String(port), ...(metrics && { METRICS_PORT: String(metricsPort) }) },
      }
    }),
  )
}

function workerPrograms(groups: readonly WorkerGroup[]): Promise<Program[]> {
  return Promise.all(
    groups.map(async ({ names, roles = [] }, n) => {
      const port = await freePort()
      const url = `http://127.0.0.1:${port}`
      const args = [workersProgram, ...names]
      return {
        name: `${names[0]}-${n}`,
        args,
        roles,
        url,
        metricsUrl: url,
        own: { WORKER_PORT: String(port) },
      }
    }),
  )
}

/** What takes hours or days in a real month takes seconds here. */
function quickerMonth({ url }: Sandbox): Record<string, string> {
  return {
    // Twice, so that what expired needs no person.
    SOLANA_RPC_URLS: `${url},${url}`,
    SWEEP_AFTER_HOURS: '0.0003',
    FIAT_OPEN_INTENTS: '1000000',
    // Several withdrawals to a new account at once would each wait for a code.
    CONFIRM_ACCOUNTS: 'off',
    FIATPAY_DEDUPLICATES: '1',
    PAYOUT_SECONDS: '2,0.1,2',
    WITHDRAW_WAIT_MS: '3000',
  }
}

/** Ends the leases of idempotency keys that a killed web process has left. */
async function releaseKeys(db: Knex): Promise<void> {
  await db('idempotency_keys')
    .whereNull('response')
    .update({ lease_until: new Date(0) })
}
