import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { checkOutRelease } from '../../kit/older-release.js'
import { quickCommits, startServers } from '../../kit/servers.js'
import type { ServiceProcess } from '../../kit/service-process.js'
import type { OpenScenario, Run } from '../world/scenario.js'
import { undisturbed } from './rolling.js'

const database = 'older'
/** What clients do while one web process of each release serves. */
const sharedActs = 100
/** Exit codes of `migrate --check`. */
const codes = { upToDate: 0, missing: 4 } as const
const run = promisify(execFile)

/**
 * Runs an older release under load, brings its database to this release's schema, replaces its processes one after the other, and goes
 * back in the same way. The proxy is told before a process is stopped: a release may be older than the rule that it drains.
 * `given`: its commit. Empty: the last release.
 */
export function releases(given: string): OpenScenario {
  return async ({ folder, report, defer }) => {
    const { folder: older, remove } = await checkOutRelease(given, report)
    defer(remove)
    const newer = process.cwd()
    const servers = await startServers(folder, defer, quickCommits)
    await servers.sql(`create database ${database}`)
    const databaseUrl = servers.url(database)
    await migrate(older, databaseUrl)
    const faults: string[] = []
    return {
      ...undisturbed,
      databaseUrl,
      redisUrl: servers.redisUrl,
      stage: { ...undisturbed.stage, folder: older },
      disturbances: [
        {
          name: 'this release in place of the older one',
          async act(under) {
            const lacks = (await migrate(newer, databaseUrl, '--check')) === codes.missing
            report(`this release ${lacks ? 'has' : 'has no'} migrations that the older one lacks`)
            await migrate(newer, databaseUrl)
            const code = await migrate(newer, databaseUrl, '--check')
            if (code !== codes.upToDate) faults.push(`migrate --check ended with ${code} after migrate`)
            await replaceAll(under, newer)
          },
        },
        {
          name: 'the older release in place of this one',
          async act(under) {
            await migrate(older, databaseUrl)
            await replaceAll(under, older)
          },
        },
      ],
      check: async () => faults,
    }
  }
}

/** Replaces one web process, lets both releases serve, and then the other processes. */
async function replaceAll(under: Run, folder: string): Promise<void> {
  const [first, ...others] = under.stage.processes
  if (first !== undefined) await replace(under, first, folder)
  await under.untilDone(sharedActs)
  for (const process of others) await replace(under, process, folder)
}

async function replace({ untilReady, takeOut }: Run, service: ServiceProcess, folder: string): Promise<void> {
  await untilReady()
  takeOut(service.url, true)
  await service.stop()
  await service.start(folder)
  takeOut(service.url, false)
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
