import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { startChild, stopChild } from '../bootstrap/child-process.mjs'
import { printProgress, Refusal, run } from '../bootstrap/progress.mjs'
import type { Figure } from './measurement.js'

/** Not those of a `npm run dev` that is running. */
const ports = { PORT: '3900', PG_PORT: '54390', REDIS_PORT: '63790', SANDBOX_PORT: '8990', SMTP_PORT: '2590' }
const changedTest = 'test/ledger/transfers.test.ts'
const stopMs = 30_000

/** A command, and the most seconds that it may take. */
interface Phase {
  readonly name: string
  readonly goal: number
  readonly seconds: number
}

/**
 * `npm run bench -- tools`: how long people wait for the commands of the README, in a new clone of the last commit. Prints what each
 * command says of its own phases.
 */
export async function benchTools() {
  const folder = mkdtempSync(join(tmpdir(), 'tipping-tools-'))
  const phases: Phase[] = []
  const measure = async <T>(name: string, goal: number, work: () => Promise<T>): Promise<T> => {
    printProgress(name)
    const began = performance.now()
    const result = await work()
    phases.push({ name, goal, seconds: (performance.now() - began) / 1000 })
    return result
  }
  const npm = (...args: string[]): Promise<void> => finished(start(folder, args), args)
  try {
    if ((await run('git clone', 'git', ['clone', '--quiet', process.cwd(), folder])) !== 0)
      throw new Refusal('this folder cannot be cloned: the benchmark runs in a checkout')
    await stop(await measure('npm run dev, new clone', 30, () => ready(folder)))
    const stack = await measure('npm run dev, again', 8, () => ready(folder))
    await measure('npm run demo', 25, () => npm('run', 'demo'))
    await stop(stack)
    await measure('npm run test:unit', 15, () => npm('run', 'test:unit'))
    await npm('test', '--', changedTest)
    appendFileSync(join(folder, changedTest), '// Changed.\n')
    await measure('npm test, one changed file', 8, () => npm('test', '--', changedTest))
    await measure('npm run check', 60, () => npm('run', 'check'))
    await measure('npm test', 420, () => npm('test'))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  const missed = phases.filter(({ seconds, goal }) => seconds > goal)
  return {
    table: phases.map(lineOf).join('\n'),
    results: phases,
    figures: phases.map(({ name, seconds }): Figure => ({ name, value: seconds, better: 'lower' })),
    fault: missed.length === 0 ? undefined : `too slow: ${missed.map(({ name }) => name).join(', ')}`,
  }
}

function start(folder: string, args: readonly string[]): ChildProcess {
  // Not the settings of the stack that this folder may run.
  const own = Object.entries(process.env).filter(([name]) =>
    /^(PATH|HOME|LANG|TMPDIR|npm_config_.*)$/i.test(name),
  )
  const env = { ...Object.fromEntries(own), ...ports }
  return startChild({ command: 'npm', args, signal: 'SIGTERM', env, cwd: folder }, 'pipe')
}

/** Shows the lines with which a command begins a phase: those with a time. */
function lines(child: ChildProcess, onLine: (line: string) => void): void {
  if (child.stdout === null) return
  createInterface(child.stdout).on('line', (line) => {
    if (/^ *[\d.]+ s /.test(line)) process.stdout.write(`  ${line}\n`)
    onLine(line)
  })
}

async function finished(child: ChildProcess, args: readonly string[]): Promise<void> {
  lines(child, () => undefined)
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new Refusal(`npm ${args.join(' ')} failed with code ${code}`)
}

/** Starts the stack and waits until it is ready. */
async function ready(folder: string): Promise<ChildProcess> {
  const child = start(folder, ['run', 'dev'])
  await new Promise<void>((resolve, reject) => {
    lines(child, (line) => line.startsWith('ready ') && resolve())
    child.once('exit', (code) => reject(new Refusal(`npm run dev ended with code ${code}`)))
  })
  return child
}

const stop = (child: ChildProcess): Promise<void> => stopChild(child, stopMs)

function lineOf({ name, seconds, goal }: Phase): string {
  return `${name.padEnd(28)}${seconds.toFixed(1).padStart(8)} s   goal ${String(goal).padStart(4)} s${seconds > goal ? '   missed' : ''}`
}
