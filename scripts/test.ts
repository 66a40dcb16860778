import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { takeLock } from './bootstrap/lock.mjs'
import { opsPrograms } from './bootstrap/ops.mjs'
import { printProgress, Refusal } from './bootstrap/progress.mjs'
import { startContractStack } from './contract/contract-stack.js'
import { contractTests, runContract } from './contract/run-contract.js'
import { freePort } from './dev/ports.js'
import { supervisePostgres } from './dev/postgres/postgres.js'
import { withConnection } from './dev/postgres/session.js'
import { dropDatabases, ensureTemplate, templateName } from './dev/postgres/test-database.js'
import { ProcessGroup } from './dev/process-group.js'
import { superviseRedis } from './dev/redis.js'
import { printLine, runAva } from './dev/test-run/run-ava.js'
import { addCounts, closingReport, noTests, type TestCounts } from './dev/test-run/tap.js'

// `npm test [-- <files, folders or AVA options>]`: runs every test except those in a browser (`npm run test:browser`), with a
// PostgreSQL and a Redis that are started for this run, and beside them the contract (test/contract) against a stack on them.
const dataDir = '.test-data'
/** The compiled tests, except the contract's, with what they load (scripts/bootstrap/bundle-tests.mjs). */
const bundled = 'dist/bundled'
const scratchLink = join(dataDir, 'scratch')
const processes = new ProcessGroup(printProgress)
let stackProcesses: ProcessGroup | undefined

async function stopAll(): Promise<void> {
  await stackProcesses?.stop()
  await processes.stop()
}

/**
 * Tests need no durability against a power failure, and vacuum would go through the databases of all finished tests. All other
 * settings are as in production.
 */
const testFlags = ['-c', 'fsync=off', '-c', 'full_page_writes=off', '-c', 'autovacuum=off']
/** For the processes of the contract's stack beside those of several test files. */
const connections = ['-c', 'max_connections=400']
/**
 * Begins the names of the tests' databases. They are dropped at the end: ext4 gives no new file the place of one that was
 * deleted seconds ago, so a database copied after others were dropped takes five times as long.
 */
const databasePrefix = `t_${process.pid}_`

async function database(): Promise<string> {
  const given = process.env['TEST_DATABASE_URL']
  const server = given ? given.replace(/\/*$/, '/') : await ownServer()
  if (await ensureTemplate(server)) printProgress('created the template database')
  return server
}

async function ownServer(): Promise<string> {
  const flags = [...testFlags, ...connections]
  const url = await supervisePostgres(processes, { dataDir, port: await freePort(), flags })
  await dropDatabases(url(''))
  return url('')
}

async function redis(): Promise<string> {
  return process.env['TEST_REDIS_URL'] || superviseRedis(processes, await freePort(), dataDir)
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
  if (!/^test\/.*\.ts$/.test(file)) return argument
  return join(file.startsWith('test/contract/') ? 'dist' : bundled, file.replace(/ts$/, 'js'))
}

interface TestsToRun {
  readonly own: readonly string[]
  /** They run against a started stack. */
  readonly contract: readonly string[]
}

/**
 * The named test files, or by default every folder of tests except `browser`. With options of AVA and no file the contract
 * is left out: an option that selects tests would select none of them.
 */
function testsToRun(): TestsToRun {
  const given = process.argv.slice(2).map(toCompiled)
  const options = given.filter((argument) => argument.startsWith('-'))
  const files = given.filter((argument) => !argument.startsWith('-'))
  if (files.length === 0) {
    const folders = readdirSync(`${bundled}/test`).filter((folder) => folder !== 'browser')
    return {
      own: [...folders.map((folder) => `${bundled}/test/${folder}/**/*.test.js`), ...options],
      contract: options.length === 0 ? [contractTests] : [],
    }
  }
  const [contract, own] = [files.filter(isOfContract), files.filter((file) => !isOfContract(file))]
  return {
    own: own.length > 0 ? [...own, ...options] : [],
    contract: contract.length > 0 ? [...contract, ...options] : [],
  }
}

const isOfContract = (file: string): boolean => file.startsWith(join('dist', 'test', 'contract'))

/**
 * Runs the contract against a stack of its own, on a database and a Redis namespace of this run. It waits more than it computes,
 * so it runs beside the other tests, one file at a time. Its lines are printed together.
 */
async function runContractTests(
  server: string,
  redisUrl: string,
  files: readonly string[],
): Promise<TestCounts> {
  const name = `${databasePrefix}contract`
  await withConnection(`${server}postgres`, (admin) => admin.query(`create database ${name}`))
  const folder = join(dataDir, 'contract')
  rmSync(folder, { recursive: true, force: true })
  const options = {
    dataDir: folder,
    databaseUrl: `${server}${name}`,
    redisUrl: `${redisUrl}?namespace=${name}`,
    print: printProgress,
  }
  const stack = await startContractStack(options, (group) => {
    stackProcesses = group
  })
  try {
    const lines: string[] = []
    const counts = await runContract(stack, {
      args: [...files, '--concurrency=1'],
      print: printProgress,
      onLine: (line) => lines.push(line),
    })
    printProgress('the contract, which ran beside the other tests:')
    for (const line of lines) printLine(line)
    return counts
  } finally {
    await stack.stop()
  }
}

const isWholeRun = process.argv.length === 2

const linesOf = (file: string): string[] =>
  existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : []

/** One more test of a whole run: every route and operators' command was called with success, as the role that it has. */
function reachedAll(folder: string): TestCounts {
  const reached = new Set(linesOf(join(folder, 'reached')))
  // Of a subject its verbs.
  const commands = [...opsPrograms()].filter(([, file]) => !existsSync(file.replace(/[.]js$/, '')))
  const all = [...linesOf(join(folder, 'routes')), ...commands.map(([name]) => name)]
  const unreached = all.filter((name) => !reached.has(name))
  const title = 'every route and every operators’ command is called with success as its database role'
  const failures = [`not ok - ${title}`, ...unreached.map((name) => `  no test reached ${name}`)]
  return unreached.length === 0
    ? { ...noTests, passed: 1 }
    : { ...noTests, failed: 1, failures: [failures.join('\n')] }
}

async function run(): Promise<number> {
  mkdirSync(dataDir, { recursive: true })
  const lock = takeLock(join(dataDir, 'run.lock'))
  if (!lock.taken) throw new Refusal(`npm test already runs in this folder (process ${lock.pid})`)
  process.once('exit', lock.release)
  const scratch = scratchFolder()
  const [server, redisUrl] = await Promise.all([database(), redis()])
  printProgress('PostgreSQL and Redis are ready')
  const env = {
    ...process.env,
    TEST_DATABASE_URL: server,
    TEST_TEMPLATE: templateName,
    TEST_DATABASE_PREFIX: databasePrefix,
    TEST_REDIS_URL: redisUrl,
    TMPDIR: scratch,
    TEST_REACHED: scratch,
  }
  const tests = testsToRun()
  const [own, contract] = await Promise.all([
    tests.own.length > 0 ? runAva(tests.own, env) : noTests,
    tests.contract.length > 0 ? runContractTests(server, redisUrl, tests.contract) : noTests,
  ])
  const tally = addCounts(addCounts(own, contract), isWholeRun ? reachedAll(scratch) : noTests)
  await dropDatabases(server, databasePrefix)
  await processes.stop()
  removeScratch()
  process.stdout.write(`${closingReport(tally)}\n`)
  return tally.failed === 0 && tally.passed > 0 ? 0 : 1
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(signal, () => void stopAll().then(() => process.exit(130)))
try {
  process.exit(await run())
} catch (error) {
  process.stderr.write(`${error instanceof Refusal ? error.message : error}\n`)
  await stopAll()
  process.exit(1)
}
