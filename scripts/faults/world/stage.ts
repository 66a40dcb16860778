import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Keypair } from '@solana/web3.js'
import type { Knex } from 'knex'
import { booksStatementMs } from '../../../src/ledger/invariants.js'
import { createDb } from '../../../src/platform/database/database.js'
import type { ProcessName } from '../../../workers/registry.js'
import { webProgram, workersProgram } from '../../dev/built.js'
import { freePort } from '../../dev/ports.js'
import { respondsAt } from '../../dev/probe.js'
import type { Defer } from '../../kit/closing.js'
import { chooseKillPoint, type Role } from '../../kit/kill-points.js'
import { OperatorCommands } from '../../kit/operator-commands.js'
import { patient } from '../../kit/patient-pool.js'
import type { ServerUrls } from '../../kit/servers.js'
import { ServiceProcess } from '../../kit/service-process.js'
import { serviceSettings } from '../../kit/service-settings.js'
import type { Fault } from '../../sandbox/fiatpay/faults.js'
import { type Sandbox, startSandbox } from '../../sandbox/server.js'
import { sandboxSettings } from '../../sandbox/service-settings.js'
import { createCreators, createPayer, createSupporter, type WorldCreator } from './people.js'

/** How the bank behaves. */
type Settings = Readonly<Record<string, string>>

/** The service in processes of its own; chain, bank, mail server and rates in this process. */
export interface Stage {
  readonly url: string
  /** Of each web process. */
  readonly webUrls: readonly string[]
  readonly db: Knex
  readonly sandbox: Sandbox
  readonly env: Settings
  readonly creators: readonly WorldCreator[]
  readonly supporters: readonly Keypair[]
  readonly treasury: Keypair
  /** Pays the fees of sweeps. */
  readonly payerFile: string
  readonly commands: OperatorCommands
  /** The logs of all processes. */
  readonly logs: string
  /** Where processes were killed so far. */
  readonly kills: string[]
  /** The web processes, then the workers. */
  readonly processes: readonly ServiceProcess[]
  /** A command that is killed as processes are, and run again when it ends. It is not started yet. */
  addCommand(name: string, args: readonly string[], role: Role, lateMs: number): ServiceProcess
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
  readonly webs?: number
  /** The workers of each process, and the kill points that fit it. */
  readonly workers?: readonly WorkerGroup[]
  /** The kill points of web processes. */
  readonly webRoles?: readonly Role[]
  /** Where the service finds its database, when that is not the way on which the results are read. */
  readonly serviceDatabaseUrl?: string
  /** Listens in front of the web processes. Returns its URL. */
  readonly front?: (webs: readonly string[]) => Promise<string>
  readonly env?: (sandbox: Sandbox) => Settings
  /** A process that ends by itself is started again, as a supervisor does. */
  readonly restarts?: boolean
  /** The folder of the release that runs first. */
  readonly folder?: string
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

export async function openStage(
  defer: Defer,
  servers: ServerUrls,
  seed: number,
  options: StageOptions,
): Promise<Stage> {
  const treasury = Keypair.generate()
  const treasuryWallet = treasury.publicKey.toBase58()
  const { slotMs = usualSlotMs } = options
  const sandbox = await startSandbox({ port: 0, slotMs, treasury: treasuryWallet, fiatpayFees: true })
  defer(() => sandbox.close())
  const programs = await programsOf(options)
  const webUrls = programs.slice(0, options.webs ?? 1).map((program) => program.url)
  const url = (await options.front?.(webUrls)) ?? webUrls[0] ?? ''
  sandbox.rates.set({ NGN: firstRate })
  sandbox.fiatpay.webhooks.setUrl(`${url}/webhooks/fiatpay`)
  sandbox.fiatpay.faults.setFault({ seed, ...(options.bank ?? usualBank) })
  const settings = {
    ...serviceSettings(servers),
    ...sandboxSettings(sandbox, treasuryWallet),
    ...quickerMonth(sandbox),
    PUBLIC_URL: url,
    ...options.env?.(sandbox),
  }
  const logs = mkdtempSync(join(tmpdir(), 'tipping-stage-'))
  const kills: string[] = []
  let running: readonly ServiceProcess[] = []
  let failure: unknown
  let points = 0
  let killed = 0
  const stopService = async () => void (await Promise.all(running.map((one) => one.end())))

  /** Starts the service. Commands may find the database in another way: beside a pooler, with the connections of superusers. */
  async function startOn(databaseUrl: string, serviceUrl: string) {
    const db = patient(createDb(databaseUrl, 4, booksStatementMs))
    defer(() => db.destroy())
    const env = { ...settings, DATABASE_URL: serviceUrl }
    const commands = new OperatorCommands({ ...env, DATABASE_URL: databaseUrl })
    defer(() => commands.close())
    const make = ({ roles, own, ...program }: Program, lateMs = usualLateMs): ServiceProcess =>
      new ServiceProcess({
        ...program,
        env: { ...env, ...own },
        logFile: join(logs, `${program.name}.log`),
        lateMs,
        restarts: options.restarts === true,
        choosePoint() {
          points += 1
          return chooseKillPoint(seed, roles[points % roles.length] as Role, points)
        },
        async onKill({ name, at }) {
          kills.push(`${name} ${at}`)
          // Where the database does not answer, the leases end by themselves.
          if (name.startsWith('web')) await releaseKeys(db).catch(() => undefined)
        },
        onFailure(error) {
          failure ??= error
        },
      })
    running = programs.map((program) => make(program))
    defer(stopService)
    await Promise.all(running.map((one) => one.start(options.folder)))
    return {
      db,
      env,
      commands,
      processes: running,
      // Done, something waits for a person, or try again later.
      addCommand: (name: string, args: readonly string[], role: Role, lateMs: number) =>
        make({ name, args, roles: [role], url: '', own: {}, codes: [0, 4, 5] }, lateMs),
    }
  }

  const started = await startOn(servers.databaseUrl, options.serviceDatabaseUrl ?? servers.databaseUrl)
  // What is in front of them has seen it too.
  if (!(await respondsAt(`${url}/ready`, readyMs, () => failure === undefined)))
    throw failure ?? new Error(`${url} is not ready; the logs are in ${logs}`)
  const stage: Stage = {
    ...started,
    url,
    webUrls,
    sandbox,
    creators: await createCreators({ url, db: started.db, sandbox }, options.creators),
    supporters: Array.from({ length: supporterCount }, () => createSupporter(sandbox)),
    treasury,
    payerFile: createPayer(sandbox, logs),
    logs,
    kills,
    killOne(choice) {
      killed += 1
      running[Math.floor(choice * running.length)]?.kill(killed % 2 === 0)
    },
    throwFailure() {
      if (failure !== undefined) throw failure
    },
    stopService,
    moveTo: async (databaseUrl) => ({ ...stage, ...(await startOn(databaseUrl, databaseUrl)) }),
  }
  return stage
}

interface Program {
  readonly name: string
  readonly args: readonly string[]
  readonly roles: readonly Role[]
  readonly url: string
  readonly metricsUrl?: string
  readonly own: Settings
  readonly codes?: readonly number[]
}

/** The web processes, then the workers. */
function programsOf({
  webs = 1,
  webRoles = ['web', 'web-take-outs'],
  workers = allWorkers,
}: StageOptions): Promise<Program[]> {
  const urlOf = (port: number): string => `http://127.0.0.1:${port}`
  return Promise.all([
    ...Array.from({ length: webs }, async (_, n) => {
      const [port, metricsPort] = [await freePort(), await freePort()]
      const own = { PORT: String(port), METRICS_PORT: String(metricsPort) }
      const urls = { url: urlOf(port), metricsUrl: urlOf(metricsPort) }
      return { name: `web-${n}`, args: [webProgram], roles: webRoles, own, ...urls }
    }),
    ...workers.map(async ({ names, roles = [] }, n) => {
      const port = await freePort()
      const own = { WORKER_PORT: String(port) }
      return { name: `${names[0]}-${n}`, args: [workersProgram, ...names], roles, own, url: urlOf(port) }
    }),
  ])
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
