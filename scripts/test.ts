import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { createInterface } from 'node:readline'
import { startChild } from './bootstrap/child-process.mjs'
import { takeLock } from './bootstrap/lock.mjs'
import { printProgress, Refusal } from './bootstrap/progress.mjs'
import { freePort } from './dev/ports.js'
import { postgresReady, preparePostgres } from './dev/postgres/postgres.js'
import { dropLeftoverDatabases, ensureTemplate, templateName } from './dev/postgres/test-database.js'
import { ProcessGroup } from './dev/process-group.js'
import { redisProgram, redisReady } from './dev/redis.js'
import { summaryLine, TapCounter, type TestCounts } from './dev/tap.js'

// `npm test [-- <files or AVA options>]`: runs every test except those in a browser (`npm run test:browser`), with a
// PostgreSQL and a Redis that are started for this run.
const dataDir = '.test-data'
const scratchLink = join(dataDir, 'scratch')
const processes = new ProcessGroup(printProgress)

/** Tests need no durability against a power failure. All other settings are as in production. */
const testFlags = ['-c', 'fsync=off', '-c', 'full_page_writes=off']

async function database(): Promise<string> {
  const given = process.env['TEST_DATABASE_URL']
  const server = given ? given.replace(/\/*$/, '/') : await ownServer()
  if (await ensureTemplate(server)) printProgress('created the template database')
  return server
}

async function ownServer(): Promise<string> {
  const postgres = await preparePostgres({ dataDir, port: await freePort(), flags: testFlags })
  process.once('exit', postgres.release)
  processes.start('database', 'postgres', postgres.program)
  await postgresReady(postgres.url('postgres'), () => processes.mayStillStart)
  await dropLeftoverDatabases(postgres.url(''))
  return postgres.url('')
}

async function redis(): Promise<string> {
  const given = process.env['TEST_REDIS_URL']
  if (given) return given
  const port = await freePort()
  processes.start('support', 'redis', redisProgram(port, dataDir))
  await redisReady(port, () => processes.mayStillStart)
  return `redis://127.0.0.1:${port}`
}

/**
 * A folder for files that tests write, outside the repository because PostgreSQL's user must reach it. A link to it is
 * kept, so that the next run can remove it when this one is killed.
 */
function scratchFolder(): string {
  removeScratch()
  const folder = mkdtempSync(join(tmpdir(), 'tipping-test-'))
  chmodSync(folder, 0o755)
  symlinkSync(folder, scratchLink)
  return folder
}

function removeScratch(): void {
  try {
    rmSync(realpathSync(scratchLink), { recursive: true, force: true })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
  rmSync(scratchLink, { force: true })
}

/** Replaces a test's source file by its compiled file. Other arguments are passed to AVA unchanged. */
function toCompiled(argument: string): string {
  const file = relative('.', argument)
  if (file.startsWith('dist/')) return file
  return /^test\/.*\.ts$/.test(file) ? join('dist', file.replace(/ts$/, 'js')) : argument
}

/** The named test files, or by default every folder of tests except `browser`. */
function testsToRun(): string[] {
  const named = process.argv.slice(2).map(toCompiled)
  if (named.some((argument) => !argument.startsWith('-'))) return named
  const folders = readdirSync('dist/test').filter((folder) => folder !== 'browser')
  return [...folders.map((folder) => `dist/test/${folder}/**/*.test.js`), ...named]
}

async function runTests(env: NodeJS.ProcessEnv): Promise<TestCounts> {
  const args = ['node_modules/ava/entrypoints/cli.mjs', '--tap', ...testsToRun()]
  const runner = startChild({ command: process.execPath, args, signal: 'SIGTERM', env }, 'pipe')
  const ended = once(runner, 'exit')
  const counter = new TapCounter()
  if (runner.stdout !== null)
    for await (const line of createInterface({ input: runner.stdout })) {
      counter.line(line)
      process.stdout.write(`${line}\n`)
    }
  const [exitCode] = await ended
  runner.stdin?.end()
  return counter.counts(exitCode ?? 1)
}

async function run(): Promise<number> {
  mkdirSync(dataDir, { recursive: true })
  const lock = takeLock(join(dataDir, 'run.lock'))
  if (!lock.taken) throw new Refusal(`npm test already runs in this folder (process ${lock.pid})`)
  process.once('exit', lock.release)
  const scratch = scratchFolder()
  const [server, redisUrl] = await Promise.all([database(), redis()])
  printProgress('PostgreSQL and Redis are ready')
  const own = {
    TEST_DATABASE_URL: server,
    TEST_TEMPLATE: templateName,
    TEST_REDIS_URL: redisUrl,
    TMPDIR: scratch,
  }
  const tally = await runTests({ ...process.env, ...own })
  await processes.stop()
  removeScratch()
  process.stdout.write(`${summaryLine(tally)}\n`)
  return tally.failed === 0 && tally.passed > 0 ? 0 : 1
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(signal, () => void processes.stop().then(() => process.exit(130)))
try {
  process.exit(await run())
} catch (error) {
  process.stderr.write(`${error instanceof Refusal ? error.message : error}\n`)
  await processes.stop()
  process.exit(1)
}
