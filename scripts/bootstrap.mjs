// The one door to every npm script: makes a clean clone runnable, then hands over to the program that was named.
// Plain Node without dependencies, because it runs before anything is installed.
import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { takeLock } from './bootstrap/lock.mjs'
import { endRunning, Refusal, say } from './bootstrap/progress.mjs'
import { loadDotenv, loadStackSettings } from './bootstrap/settings.mjs'

const leastNode = [20, 19]
const lockPollMs = 250
const parentPollMs = 250

/** What each command needs before it runs; the settings under `redis` make a Redis of our own unnecessary. */
const commands = {
  dev: { redis: 'REDIS_URL', build: true, dotenv: true },
  test: { redis: 'TEST_REDIS_URL', build: true },
  'test:browser': {
    redis: 'TEST_REDIS_URL',
    build: true,
    chromium: true,
    program: 'test',
    args: ['dist/test/browser/**/*.test.js'],
  },
  bench: { redis: 'REDIS_URL', build: true, dotenv: true },
  faults: { redis: 'REDIS_URL', build: true },
  demo: { build: true, dotenv: true },
  ops: { build: true, dotenv: true },
  check: {},
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

async function main(name, args) {
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (command === undefined) throw new Refusal(`usage: npm run ${Object.keys(commands).join(' | ')}`)
  checkNode()
  if (command.dotenv) loadDotenv()
  if (command.dotenv && name !== 'dev') loadStackSettings()
  await prepare(command)
  if (name === 'check') {
    const { check } = await import('./bootstrap/check.mjs')
    process.exitCode = check()
  } else await handOver(command.program ?? name, args.length > 0 ? args : (command.args ?? []))
}

function checkNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  if (major < leastNode[0] || (major === leastNode[0] && minor < leastNode[1]))
    throw new Refusal(`Node ${leastNode.join('.')} or newer is needed; this is ${process.versions.node}`)
}

/** Installs and builds what is missing, one process per folder at a time; a signal ends that work and this process. */
async function prepare({ redis, build, chromium }) {
  const stop = () => void endRunning().then(() => process.exit(130))
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP']
  for (const signal of signals) process.on(signal, stop)
  const lock = await waitForLock('.bootstrap.lock')
  process.once('exit', lock.release)
  const { ensurePackages } = await import('./bootstrap/packages.mjs')
  const { ensureRedis } = await import('./bootstrap/redis.mjs')
  const ownRedis = redis !== undefined && !process.env[redis]
  const tools = async () => {
    // One after the other: apt has one lock.
    if (ownRedis) await ensureRedis()
    if (chromium) await (await import('./bootstrap/chromium.mjs')).ensureChromium()
  }
  await Promise.all([ensurePackages(), tools()])
  if (build) await (await import('./bootstrap/build.mjs')).build()
  lock.release()
  for (const signal of signals) process.off(signal, stop)
}

async function waitForLock(file) {
  for (let told = false; ; told = true) {
    const lock = takeLock(file)
    if (lock.taken) return lock
    if (!told) say(`waiting for process ${lock.pid}, which installs or builds in this folder`)
    await sleep(lockPollMs)
  }
}

async function handOver(name, args) {
  const [program, rest] = name === 'ops' ? await operatorsScript(args) : [`dist/scripts/${name}.js`, args]
  if (program === undefined) return
  if (!existsSync(program)) throw new Refusal(`npm run ${name}: there is no ${program}`)
  process.argv = [process.execPath, resolve(program), ...rest]
  await import(pathToFileURL(program).href)
}

async function operatorsScript([script, ...rest]) {
  const { opsHelp, opsProgram, wrongArguments } = await import('./bootstrap/ops.mjs')
  if (script !== undefined && !script.startsWith('-')) return [opsProgram(script), rest]
  process.stdout.write(opsHelp())
  if (script !== '--help' && script !== '-h') process.exitCode = wrongArguments
  return []
}

/**
 * npm does not always live to hand a signal on: when it is killed, no signal arrives here, only another parent.
 * Then this process ends as if it had been told to.
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
