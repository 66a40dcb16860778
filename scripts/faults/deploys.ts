import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { hasNginx } from '../kit/nginx.js'
import { checkOutRelease } from '../kit/older-release.js'
import { quickCommits, startServers } from '../kit/servers.js'
import type { ServiceProcess } from '../kit/service-process.js'
import type { OpenScenario, Run, Scenario } from './world/run-scenario.js'

/**
 * What a deploy must not disturb: no request fails, and no stream breaks off. The bank and the chain are well. Behind a proxy a process
 * that stops drains.
 */
const undisturbed = {
  stage: { bank: { settleMs: 300 }, env: () => ({ TRUST_PROXY: 'true' }) },
  acts: { crypto: 20, repeat: 20, naira: 5, withdraw: 10, read: 60 },
  inOrder: true,
  mayAnswer: [],
  keepsStreams: true,
} satisfies Partial<Scenario>

/**
 * Restarts every process of the service, one after the other, as a deploy does: told to stop by a signal, and started again when it has
 * ended. What is before them repeats nothing: the shipped nginx where it is installed, else a proxy that learns from `/ready`.
 */
export function rolling(rounds: number): OpenScenario {
  return async ({ folder, defer }) => ({
    ...(await startServers(folder, defer, quickCommits)),
    ...undisturbed,
    ...(hasNginx() && { router: 'nginx' as const }),
    disturbances: Array.from({ length: rounds }, () => ({
      name: 'every process restarted',
      act: (run) => replace(run, run.stage.processes),
    })),
  })
}

async function replace(
  { untilReady }: Run,
  processes: readonly ServiceProcess[],
  folder?: string,
): Promise<void> {
  for (const process of processes) {
    await untilReady()
    await process.stop()
    await process.start(folder)
  }
}

const database = 'older'
/** What clients do while one web process of each release serves. */
const sharedActs = 100
/** Exit code of `migrate --check`. */
const missing = 4

/**
 * Runs an older release under load, brings its database to this release's schema, replaces its processes one after the other, and goes
 * back in the same way. `given`: its commit. Empty: the last release.
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
    /** Replaces one web process, lets both releases serve, and then the other processes. */
    const replaceAll = async (run: Run, release: string): Promise<void> => {
      const [first, ...others] = run.stage.processes
      await migrate(release, databaseUrl)
      if (first !== undefined) await replace(run, [first], release)
      await run.untilDone(sharedActs)
      await replace(run, others, release)
    }
    return {
      ...undisturbed,
      databaseUrl,
      redisUrl: servers.redisUrl,
      stage: { ...undisturbed.stage, folder: older },
      disturbances: [
        {
          name: 'this release in place of the older one',
          async act(run) {
            const lacks = (await migrate(newer, databaseUrl, '--check')) === missing
            report(`this release ${lacks ? 'has' : 'has no'} migrations that the older one lacks`)
            await replaceAll(run, newer)
          },
        },
        {
          name: 'the older release in place of this one',
          act: (run) => replaceAll(run, older),
        },
      ],
      check: async () =>
        (await migrate(newer, databaseUrl, '--check')) === 0 ? [] : ['migrations are missing after migrate'],
    }
  }
}

/** Runs a release's `migrate`. Returns its exit code. */
async function migrate(folder: string, databaseUrl: string, ...args: readonly string[]): Promise<number> {
  const env = { PATH: process.env['PATH'], DATABASE_URL: databaseUrl }
  const program = 'dist/scripts/ops/migrate.js'
  return promisify(execFile)(process.execPath, [program, ...args], { cwd: folder, env }).then(
    () => 0,
    (error: { code?: unknown; stderr?: string }) => {
      if (error.code === missing && args.includes('--check')) return missing
      throw new Error(`migrate in ${folder} failed: ${error.stderr}`)
    },
  )
}
