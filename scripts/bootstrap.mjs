// The entry point of every npm script: installs and builds what is missing, then runs the script.
// Plain JavaScript without dependencies, because it runs before anything is installed.
import { existsSync, readdirSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { takeLock } from './bootstrap/lock.mjs'
import { printProgress, Refusal, stopRunning } from './bootstrap/progress.mjs'
import { loadDotenv, loadStackSettings } from './bootstrap/settings.mjs'

const minNode = [20, 19]
const lockPollMs = 250
const parentPollMs = 250

/**
 * What each command needs before it runs. `redis`: the setting that makes an installed redis-server unnecessary, or
 * true: none does. `built`: a folder that makes every preparation unnecessary. `tools`: the packages of tools/ too.
 */
const commands = {
  dev: { redis: 'REDIS_URL', build: true, dotenv: true },
  test: { redis: 'TEST_REDIS_URL', build: true, bundle: true },
  'test:unit': {},
  models: {},
  mutate: { redis: true, build: true },
  'test:browser': {
    redis: 'TEST_REDIS_URL',
    build: true,
    bundle: true,
    chromium: true,
    program: 'test',
    args: ['dist/bundled/test/browser/**/*.test.js'],
  },
  // Its stack starts a Redis of its own, whatever the shell exports.
  'test:contract': { redis: true, build: true, program: 'test-contract' },
  bench: { redis: 'REDIS_URL', build: true },
  faults: { redis: 'REDIS_URL', build: true },
  simulate: { build: true },
  demo: { build: true, dotenv: true },
  // In a release an install would empty node_modules under the running processes.
  ops: { build: true, built: 'dist/scripts/ops', dotenv: true },
  check: { tools: true },
}

/** Commands that run in this process, without a build. */
const ownPrograms = {
  check: async (args) => (await import('./bootstrap/check.mjs')).check(args),
  'test:unit': async (args) => (await import('./bootstrap/unit/unit-tests.mjs')).runUnitTests(args),
  models: async (args) => (await import('./bootstrap/unit/models.mjs')).runModels(args),
}

process.chdir(join(dirname(fileURLToPath(import.meta.url)), '..'))
watchParent()
try {
  await main(process.argv[2] ?? '', process.argv.slice(3))
} catch (error) {
  if (error?.name !== 'Refusal') throw error
  process.stderr.write(`${error.message}\n`)
  process.exit(error.exitCode)
}

async function main(name, given) {
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (command === undefined) throw new Refusal(`usage: npm run ${Object.keys(commands).join(' | ')}`)
  checkNode()
  const args = command.bundle ? given.flatMap(testsOf) : given
  if (command.dotenv) loadDotenv()
  if (command.dotenv && name !== 'dev') loadStackSettings(name === 'demo')
  adapt(name, command, args)
  refuseInProduction(name, command)
  if (!isRelease(command)) await prepare(command, args)
  const run = command.program === undefined ? ownPrograms[name] : undefined
  if (run !== undefined) process.exitCode = await run(args)
  else await handOver(command.program ?? name, args.length > 0 ? args : (command.args ?? []))
}

/** A folder stands for the tests in it. */
function testsOf(argument) {
  if (!existsSync(argument) || !statSync(argument).isDirectory()) return [argument]
  const files = readdirSync(argument, { recursive: true }).filter((file) => file.endsWith('.test.ts'))
  return files.map((file) => join(argument, file))
}

/** What the arguments change of what a command needs. */
function adapt(name, command, args) {
  const has = (option) => args.some((argument) => argument.split('=', 1)[0] === option)
  // A server that is given needs no Redis of ours.
  if (name === 'test:contract' && has('--url')) command.redis = undefined
  // Traces run the product.
  if (name === 'models' && (has('--traces') || has('--help')))
    Object.assign(command, { build: true, program: '../test/models/traces/main' })
}

/** A built release without dev packages. A clone is prepared, so that it never runs an old build. */
function isRelease({ built }) {
  return built !== undefined && existsSync(built) && !existsSync('node_modules/ava')
}

/** A complete `npm ci --omit=dev` and a build are a release. Its processes may be running from this folder. */
function refuseInProduction(name, { built }) {
  const installed = 'node_modules/.package-lock.json'
  if (built !== undefined || !existsSync('dist/scripts/ops') || !existsSync(installed)) return
  if (existsSync('node_modules/ava')) return
  throw new Refusal(
    `npm run ${name} needs the packages for development, and this is a built release without them: nothing was installed or ` +
      'built. Run it in a clone; if this is one, run npm ci first',
  )
}

function checkNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  if (major < minNode[0] || (major === minNode[0] && minor < minNode[1]))
    throw new Refusal(`Node ${minNode.join('.')} or newer is required; this is ${process.versions.node}`)
}

/** Installs and builds what is missing. A lock allows one process per folder. A signal ends the work and this process. */
async function prepare({ redis, build, bundle, chromium, tools }, args) {
  const stop = () => void stopRunning().then(() => process.exit(130))
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP']
  for (const signal of signals) process.on(signal, stop)
  const lock = await waitForLock('.bootstrap.lock')
  process.once('exit', lock.release)
  const { ensurePackages } = await import('./bootstrap/packages.mjs')
  const { ensureChromium, ensureRedis } = await import('./bootstrap/system-packages.mjs')
  const ownRedis = redis === true || (redis !== undefined && !process.env[redis])
  const systemTools = async () => {
    // One after the other, because apt has one lock.
    if (ownRedis) await ensureRedis()
    if (chromium) await ensureChromium()
  }
  await Promise.all([ensurePackages(tools), systemTools()])
  if (build) await (await import('./bootstrap/build.mjs')).build(bundle ? args : undefined)
  lock.release()
  for (const signal of signals) process.off(signal, stop)
}

async function waitForLock(file) {
  for (let printed = false; ; printed = true) {
    const lock = takeLock(file)
    if (lock.taken) return lock
    if (!printed) printProgress(`waiting for process ${lock.pid}, which installs or builds in this folder`)
    await sleep(lockPollMs)
  }
}

async function handOver(name, args) {
  const [program, rest] = name === 'ops' ? await opsCommand(args) : [`dist/scripts/${name}.js`, args]
  if (program === undefined) return
  if (!existsSync(program)) throw new Refusal(`npm run ${name}: the file ${program} is missing`)
  process.argv = [process.execPath, resolve(program), ...rest]
  await import(pathToFileURL(program).href)
}

async function opsCommand([command, ...rest]) {
  const { opsHelp, opsProgram, wrongArguments } = await import('./bootstrap/ops.mjs')
  if (command !== undefined && !command.startsWith('-')) return [opsProgram(command), rest]
  process.stdout.write(opsHelp())
  if (![undefined, '--help', '-h'].includes(command)) process.exitCode = wrongArguments
  return []
}

/**
 * Ends this process when npm is killed. A killed npm cannot forward a signal, but this process then gets another parent.
 */
function watchParent() {
  if (process.env.npm_lifecycle_event === undefined) return
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    process.kill(process.pid, 'SIGTERM')
  }, parentPollMs)
  timer.unref()
}
