import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { createInterface } from 'node:readline'
import { keep } from './bootstrap/keep.mjs'
import { takeLock } from './bootstrap/lock.mjs'
import { Refusal, say } from './bootstrap/progress.mjs'
import { Fleet } from './dev/fleet.js'
import { freePort } from './dev/ports.js'
import { postgresReady, preparePostgres } from './dev/postgres/postgres.js'
import { dropLeftovers, ensureTemplate, templateName } from './dev/postgres/test-database.js'
import { redisProgram, redisReady } from './dev/redis.js'
import { type Tally, TapCounter, tallyLine } from './dev/tap.js'

// `npm test [-- <files or AVA options>]`: every test but those in a browser (`npm run test:browser`), against a PostgreSQL
// and a Redis started for this run alone.
const dataDir = '.test-data'
const scratchLink = join(dataDir, 'scratch')
const fleet = new Fleet(say)

/** Durability against a power cut is not what tests are about; everything else is as in production. */
const testFlags = ['-c', 'fsync=off', '-c', 'full_page_writes=off']

async function database(): Promise<string> {
  const given = process.env['TEST_DATABASE_URL']
  const server = given ? given.replace(/\/*$/, '/') : await ownServer()
  if (await ensureTemplate(server)) say('template database made')
  return server
}

async function ownServer(): Promise<string> {
  const postgres = await preparePostgres({ dataDir, port: await freePort(), flags: testFlags })
  process.once('exit', postgres.release)
  fleet.start('database', 'postgres', postgres.program)
  await postgresReady(postgres.url('postgres'), () => fleet.hopeful)
  await dropLeftovers(postgres.url(''))
  return postgres.url('')
}

async function redis(): Promise<string> {
  const given = process.env['TEST_REDIS_URL']
  if (given) return given
  const port = await freePort()
  fleet.start('support', 'redis', redisProgram(port, dataDir))
  await redisReady(port, () => fleet.hopeful)
  return `redis://127.0.0.1:${port}`
}

/**
 * A folder for what tests write, outside the repository because PostgreSQL's user must reach it. The link to it lets
 * this run's end remove it, or the next run's start when this one is killed.
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

/** Source files as they are named in the repository become the compiled ones; everything else is AVA's. */
function toCompiled(argument: string): string {
  const file = relative('.', argument)
  if (file.startsWith('dist/')) return file
  return /^test\/.*\.ts$/.test(file) ? join('dist', file.replace(/ts$/, 'js')) : argument
}

/** Every folder of tests, when none was named, but the one whose tests need a browser. */
function testsToRun(): string[] {
  const named = process.argv.slice(2).map(toCompiled)
  if (named.some((argument) => !argument.startsWith('-'))) return named
  const folders = readdirSync('dist/test').filter((folder) => folder !== 'browser')
  return [...folders.map((folder) => `dist/test/${folder}/**/*.test.js`), ...named]
}

async function runTests(env: NodeJS.ProcessEnv): Promise<Tally> {
  const args = ['node_modules/ava/entrypoints/cli.mjs', '--tap', ...testsToRun()]
  const runner = keep({ command: process.execPath, args, signal: 'SIGTERM', env }, 'pipe')
  const ended = once(runner, 'exit')
  const counter = new TapCounter()
  if (runner.stdout !== null)
    for await (const line of createInterface({ input: runner.stdout })) {
      counter.line(line)
      process.stdout.write(`${line}\n`)
    }
  const [exitCode] = await ended
  runner.stdin?.end()
  return counter.tally(exitCode ?? 1)
}

async function run(): Promise<number> {
  mkdirSync(dataDir, { recursive: true })
  const lock = takeLock(join(dataDir, 'run.lock'))
  if (!lock.taken) throw new Refusal(`the tests run in this folder already (process ${lock.pid})`)
  process.once('exit', lock.release)
  const scratch = scratchFolder()
  const [server, redisUrl] = await Promise.all([database(), redis()])
  say('PostgreSQL and Redis ready')
  const own = {
    TEST_DATABASE_URL: server,
    TEST_TEMPLATE: templateName,
    TEST_REDIS_URL: redisUrl,
    TMPDIR: scratch,
  }
  const tally = await runTests({ ...process.env, ...own })
  await fleet.stop()
  removeScratch()
  process.stdout.write(`${tallyLine(tally)}\n`)
  return tally.failed === 0 && tally.passed > 0 ? 0 : 1
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(signal, () => void fleet.stop().then(() => process.exit(130)))
try {
  process.exit(await run())
} catch (error) {
  process.stderr.write(`${error instanceof Refusal ? error.message : error}\n`)
  await fleet.stop()
  process.exit(1)
}
