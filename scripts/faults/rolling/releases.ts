import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Servers } from '../../bench/servers.js'
import { checkOutRelease } from './older-release.js'
import type { Service } from './service.js'
import { type Outcome, openStage, type Stage, type StagePlan } from './stage.js'

export interface ReleasesPlan extends Omit<StagePlan, 'folder'> {
  /** The older release. Default: the last one. */
  readonly ref: string | undefined
  readonly requests: number
  readonly report: (progress: string) => void
}

export interface ReleasesResult extends Outcome {
  readonly ref: string
}

const database = 'older'
/** Exit codes of `migrate --check`. */
const codes = { upToDate: 0, missing: 4 } as const
const run = promisify(execFile)

/**
 * Runs an older release under load, brings its database to this release's schema, replaces its processes one after the other, and goes
 * back in the same way. The proxy is told before a process is stopped: a release may be older than the rule that it drains.
 */
export async function runReleases(servers: Servers, plan: ReleasesPlan): Promise<ReleasesResult> {
  const { ref, folder: older, remove } = await checkOutRelease(plan.ref, plan.report)
  const newer = process.cwd()
  const databaseUrl = withDatabase(servers.databaseUrl, database)
  await servers.sql(`drop database if exists ${database} with (force)`)
  await servers.sql(`create database ${database}`)
  const urls = { databaseUrl, redisUrl: servers.redisUrl, namespace: `releases-${plan.seed}` }
  let stage: Stage | undefined
  try {
    await migrate(older, databaseUrl)
    stage = await openStage(urls, { ...plan, folder: older })
    const faults: string[] = []
    const check = async (expected: number) => {
      const code = await migrate(newer, databaseUrl, '--check')
      if (code !== expected) faults.push(`migrate --check ended with ${code} instead of ${expected}`)
    }
    const quarter = plan.requests / 4
    await stage.untilSent(quarter)
    const hasMigrations = (await migrate(newer, databaseUrl, '--check')) === codes.missing
    plan.report(`the newer release ${hasMigrations ? 'has' : 'has no'} migrations that the older one lacks`)
    await migrate(newer, databaseUrl)
    await check(codes.upToDate)
    await stage.untilSent(2 * quarter)
    await replaceAll(stage, newer, 3 * quarter, plan.report)
    await migrate(older, databaseUrl)
    await replaceAll(stage, older, 4 * quarter, plan.report)
    const outcome = await stage.finish()
    return { ref, ...outcome, faults: [...faults, ...outcome.faults] }
  } finally {
    await stage?.close()
    await remove()
  }
}

/** Replaces one web process, lets both releases serve, and then the other processes. */
async function replaceAll(
  stage: Stage,
  folder: string,
  requests: number,
  report: (progress: string) => void,
): Promise<void> {
  const [first, ...others] = stage.webs
  if (first !== undefined) await replace(stage, first, folder)
  await stage.untilSent(requests)
  for (const process of [...others, ...stage.workers]) await replace(stage, process, folder)
  report(`${folder}: ${stage.load.count} requests, ${stage.load.failed} failed`)
}

async function replace({ proxy, webs, untilReady }: Stage, service: Service, folder: string): Promise<void> {
  await untilReady(webs.length)
  proxy.takeOut(service.url, true)
  await service.stop()
  await service.start(folder)
  proxy.takeOut(service.url, false)
}

/** Runs a release's `migrate`. Returns its exit code. */
async function migrate(folder: string, databaseUrl: string, ...args: readonly string[]): Promise<number> {
  const env = { PATH: process.env['PATH'], DATABASE_URL: databaseUrl }
  const program = 'dist/scripts/ops/migrate.js'
  return run(process.execPath, [program, ...args], { cwd: folder, env }).then(
    () => 0,
    (error: { code?: unknown; stderr?: string }) => {
      if (error.code === codes.missing && args.includes('--check')) return codes.missing
      throw new Error(`migrate in ${folder} failed: ${error.stderr}`)
    },
  )
}

function withDatabase(url: string, name: string): string {
  const changed = new URL(url)
  changed.pathname = `/${name}`
  return changed.href
}
