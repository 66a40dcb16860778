import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Keypair } from '@solana/web3.js'
import { Redis } from 'ioredis'
import type { Knex } from 'knex'
import { createDb } from '../../../src/platform/database/database.js'
import { freePort } from '../../dev/ports.js'
import { type Creator, createFundedCreator } from '../../faults/client.js'
import { Service } from '../../faults/rolling/service.js'
import { stopWithStdin } from '../../faults/settings.js'
import { type Sandbox, startSandbox } from '../../sandbox/server.js'
import { sandboxSettings } from '../../sandbox/service-settings.js'
import { cpuOfServer } from '../measurement.js'
import { type Servers, serviceSettings } from '../servers.js'

/** The process kinds that are measured separately, with the workers that run in each. */
const workers = {
  tips: ['verifier', 'finder'],
  naira: ['settlement', 'provisioner'],
  payouts: ['payouts', 'reconciler'],
  mailer: ['mailer'],
} as const
export const kinds = ['web', 'tips', 'naira', 'payouts', 'mailer', 'PostgreSQL', 'Redis'] as const
export type Kind = (typeof kinds)[number]

/** What was used so far: CPU seconds of each kind, bytes of data and of the write-ahead log, calls to the node. */
export interface Used {
  readonly cpu: Record<Kind, number>
  readonly dataBytes: number
  readonly walBytes: number
  readonly rpcCalls: number
}

/** All processes of the service that an ordinary day needs; the providers are in this process. */
export interface Stage {
  readonly url: string
  readonly db: Knex
  readonly sandbox: Sandbox
  readonly creators: readonly Creator[]
  used(): Promise<Used>
  close(): Promise<void>
}

const creatorCount = 8
const fundedMicro = 1_000_000_000_000n
const slotMs = 100

export async function openStage(servers: Servers): Promise<Stage> {
  const treasury = Keypair.generate().publicKey.toBase58()
  const [webPort, metricsPort] = [await freePort(), await freePort()]
  const url = `http://127.0.0.1:${webPort}`
  const sandbox = await startSandbox({ port: 0, slotMs, treasury, webhookUrl: `${url}/webhooks/fiatpay` })
  sandbox.rates.set({ NGN: 1600 })
  const db = createDb(servers.databaseUrl, 4)
  const redis = new Redis(servers.redisUrl)
  const logs = mkdtempSync(join(tmpdir(), 'bench-costs-'))
  const env = {
    ...serviceSettings(servers),
    PUBLIC_URL: url,
    ...sandboxSettings(sandbox, treasury),
    IDENTITY_SINGLE_NGN: '1000000000',
    IDENTITY_DAILY_NGN: '1000000000',
    NODE_OPTIONS: stopWithStdin,
  }
  const processes = new Map<Kind, { service: Service; metricsUrl: string }>()
  const add = (
    name: Kind,
    args: readonly string[],
    address: string,
    own: Record<string, string>,
    metricsUrl = address,
  ) =>
    processes.set(name, {
      service: new Service({
        name,
        args,
        env: { ...env, ...own },
        url: address,
        logFile: join(logs, `${name}.log`),
      }),
      metricsUrl,
    })
  add(
    'web',
    ['dist/src/web.js'],
    url,
    { PORT: String(webPort), METRICS_PORT: String(metricsPort) },
    `http://127.0.0.1:${metricsPort}`,
  )
  for (const [name, names] of Object.entries(workers)) {
    const port = await freePort()
    add(name as Kind, ['dist/workers/main.js', ...names], `http://127.0.0.1:${port}`, {
      WORKER_PORT: String(port),
    })
  }
  async function close(): Promise<void> {
    for (const { service } of processes.values()) service.kill()
    redis.disconnect()
    await db.destroy()
    await sandbox.close()
  }
  async function used(): Promise<Used> {
    const cpu: Partial<Record<Kind, number>> = {}
    for (const [name, { metricsUrl }] of processes) cpu[name] = await cpuOfServer(metricsUrl)
    cpu.PostgreSQL = await servers.databaseCpu()
    const info = await redis.info('cpu')
    cpu.Redis = ['used_cpu_sys', 'used_cpu_user'].reduce(
      (sum, name) => sum + Number(new RegExp(`^${name}:([\\d.]+)`, 'm').exec(info)?.[1]),
      0,
    )
    const { rows } = await db.raw(
      `select pg_database_size(current_database())::float8 as data, pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 as wal`,
    )
    return {
      cpu: cpu as Record<Kind, number>,
      dataBytes: rows[0].data,
      walBytes: rows[0].wal,
      rpcCalls: sandbox.calls.httpRequests,
    }
  }
  try {
    for (const { service } of processes.values()) await service.start(process.cwd())
    const creators: Creator[] = []
    for (let n = 0; n < creatorCount; n++) creators.push(await createFundedCreator(db, url, fundedMicro))
    return { url, db, sandbox, creators, used, close }
  } catch (error) {
    await close()
    throw error
  }
}
