import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { ExecutionContext } from 'ava'
import { createSemaphore } from '../../../src/platform/semaphore.js'
import { until } from '../until.js'

interface LogLine {
  readonly level: number
  readonly msg: string
  readonly [field: string]: unknown
}

/** A built process of the service, started by a test and ended with it. */
export interface ServiceProcess {
  readonly pid: number
  /** What it has logged. */
  readonly logs: readonly LogLine[]
  /** Its exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals>
  isRunning(): boolean
  signal(name: NodeJS.Signals): void
  /** Closes its stdin, as a parent that is gone. */
  endStdin(): void
}

export interface WebProcess extends ServiceProcess {
  readonly url: string
}

type Settings = Readonly<Record<string, string>>

/** How long a process may take to start: at eight times the load a machine can bear it took over 15 s. */
export const startMs = 60_000

/** Starting takes a whole processor: many at once would only make each other late. */
const startingAlone = createSemaphore({ running: 2, waiting: 100 })

type LogLevel = 'info' | 'trace'

/** Starts `dist/src/web.js` on a free port and waits until it listens. */
export async function startWeb(
  t: ExecutionContext,
  env: Settings,
  logLevel: LogLevel = 'info',
): Promise<WebProcess> {
  return startingAlone(async () => {
    const started = start(t, ['dist/src/web.js'], { ...env, PORT: '0' }, logLevel)
    const { port } = await logged(started, 'listening')
    return { ...started, url: `http://127.0.0.1:${port}` }
  })
}

/** Starts `dist/workers/main.js <name>` and waits until it works. */
export async function startWorkerProcess(
  t: ExecutionContext,
  name: string,
  env: Settings,
  logLevel: LogLevel = 'info',
): Promise<ServiceProcess> {
  return startingAlone(async () => {
    const started = start(t, ['dist/workers/main.js', name], env, logLevel)
    await logged(started, 'working')
    return started
  })
}

/** Waits for a log line with this message. Rejects when the process ends first. */
async function logged(process: ServiceProcess, message: string): Promise<LogLine> {
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
      STOP_WITH_STDIN: '1',
      NODE_OPTIONS: `--trace-deprecation ${env['NODE_OPTIONS'] ?? ''}`,
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

/** What a process writes is JSON, a line each; anything else is kept as a line of level 0. */
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
