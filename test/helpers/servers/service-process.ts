import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline'
import type { ExecutionContext } from 'ava'
import { roleKinds } from '../../../scripts/database/table-rights.js'
import { webProgram, workersProgram } from '../../../scripts/dev/built.js'
import { stopWithStdin } from '../../../scripts/kit/service-settings.js'
import { createSemaphore } from '../../../src/platform/semaphore.js'
import { until } from '../until.js'
import { settingsOf } from './roles.js'

interface LogLine {
  readonly level: number
  readonly msg: string
  readonly [field: string]: unknown
}

/** A compiled process of the service. It is killed after the test. */
export interface ServiceProcess {
  readonly pid: number
  /** What it has logged. */
  readonly logs: readonly LogLine[]
  /** Its exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals>
  isRunning(): boolean
  signal(name: NodeJS.Signals): void
  /** Closes its stdin, as when the parent process has died. */
  endStdin(): void
}

export interface WebProcess extends ServiceProcess {
  readonly url: string
}

type Settings = Readonly<Record<string, string>>

/** How long a process may take to start. On an overloaded machine it took over 15 s. */
export const startMs = 60_000

/** A starting process uses a whole processor, so only two start at the same time. */
const limitStarts = createSemaphore({ concurrency: 2, maxWaiting: 100 })

type LogLevel = 'info' | 'trace'

/** Starts a web process on a free port and waits until it listens. */
export async function startWeb(
  t: ExecutionContext,
  env: Settings,
  logLevel: LogLevel = 'info',
): Promise<WebProcess> {
  return limitStarts(async () => {
    const started = start(t, [webProgram], { ...settingsOf(env, 'web'), PORT: '0' }, logLevel)
    const { port } = await waitForLog(started, 'listening')
    return { ...started, url: `http://127.0.0.1:${port}` }
  })
}

/** Starts the worker process of this name and waits until it works. */
export async function startWorkerProcess(
  t: ExecutionContext,
  name: string,
  env: Settings,
  logLevel: LogLevel = 'info',
): Promise<ServiceProcess> {
  return limitStarts(async () => {
    const kind = roleKinds.find((one) => one === name)
    const own = kind === undefined ? env : settingsOf(env, kind)
    const started = start(t, [workersProgram, name], own, logLevel)
    await waitForLog(started, 'working')
    return started
  })
}

/** Waits for a log line with this message. Rejects when the process ends first. */
async function waitForLog(process: ServiceProcess, message: string): Promise<LogLine> {
  const find = (): LogLine | undefined => process.logs.find(({ msg }) => msg === message)
  await until(
    `a process logs "${message}"`,
    () => {
      if (find() === undefined && !process.isRunning()) throw new Error(`it ended before "${message}"`)
      return find() !== undefined
    },
    startMs,
  )
  return find() as LogLine
}

function start(
  t: ExecutionContext,
  args: readonly string[],
  env: Settings,
  logLevel: LogLevel,
): ServiceProcess {
  const child = spawn(process.execPath, args, {
    env: {
      PATH: process.env['PATH'],
      ...env,
      LOG_LEVEL: logLevel,
      NODE_OPTIONS: `--trace-deprecation ${stopWithStdin} ${env['NODE_OPTIONS'] ?? ''}`,
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const ended = exitOf(child)
  t.teardown(async () => {
    child.kill('SIGKILL')
    await ended
  })
  return {
    pid: child.pid ?? 0,
    logs: logsOf(child),
    ended,
    isRunning: () => child.exitCode === null && child.signalCode === null,
    signal: (name) => void child.kill(name),
    endStdin: () => void child.stdin?.end(),
  }
}

function logsOf({ stdout }: ChildProcess): LogLine[] {
  const lines: LogLine[] = []
  if (stdout !== null) createInterface({ input: stdout }).on('line', (line) => lines.push(readLine(line)))
  return lines
}

/** A process writes one JSON object per line. Any other line is kept with level 0. */
function readLine(line: string): LogLine {
  try {
    return JSON.parse(line) as LogLine
  } catch {
    return { level: 0, msg: line }
  }
}

async function exitOf(child: ChildProcess): Promise<number | NodeJS.Signals> {
  const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null]
  return code ?? signal ?? 0
}

/** Whether a process runs. A zombie (ended, not yet collected by its parent) does not count as running. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  if (process.platform !== 'linux') return true
  try {
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ')
  } catch {
    return false
  }
}

const failPoints = resolve('dist/scripts/kit/fail-points.js')

/** Starts a web process whose database connection breaks at every COMMIT, in one of three ways in turn. */
export function startWebLosingCommits(
  t: ExecutionContext,
  env: Readonly<Record<string, string>>,
): Promise<WebProcess> {
  const losing = { FAIL_AT: 'before COMMIT', FAIL_HOW: 'cut' }
  return startWeb(t, { ...env, ...losing, NODE_OPTIONS: `--import ${failPoints}` })
}
