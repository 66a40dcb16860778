import { parseArgs } from 'node:util'
import { printProgress, Refusal } from '../../bootstrap/progress.mjs'
import { runOutage } from '../outages/run.js'
import { figuresOf } from '../outages/run-outages.js'
import { chaos, chaosWithDead } from './chaos.js'

/** What fires when a process is kept dead. What it leaves undone is seen besides its silence. */
const alertsOf: Readonly<Record<string, readonly string[]>> = {
  verifier: ['process_down', 'standstill_worker'],
  settlement: ['process_down', 'standstill_worker'],
  payouts: ['process_down', 'standstill_worker'],
  custodian: ['process_down', 'clock_missing'],
  'web-1': ['process_down'],
}
/** More than can happen in the time. */
const rounds = 10_000
const minuteMs = 60_000
const load = { concurrency: 4, creators: 4, acts: 25, report: printProgress }

/** `npm run faults -- chaos`. Returns the exit code. */
export async function runChaosCommand(args: readonly string[]): Promise<number> {
  const text = { type: 'string' } as const
  const { values } = parseArgs({ args: [...args], options: { minutes: text, seed: text, dead: text } })
  const seed = whole('--seed', values.seed ?? String((Date.now() % 1e9) + 1))
  const minutes = whole('--minutes', values.minutes ?? '10')
  const { dead } = values
  const expected = dead === undefined ? [] : alertsOf[dead]
  if (expected === undefined) throw new Refusal(`--dead: one of ${Object.keys(alertsOf).join(', ')}`)
  printProgress(
    dead === undefined ? `seed ${seed}: ${minutes} minutes of faults` : `seed ${seed}: ${dead} kept dead`,
  )
  const scenario = dead === undefined ? chaos : chaosWithDead(dead, expected)
  const length = dead === undefined ? { rounds, longestMs: minutes * minuteMs } : { rounds: 1 }
  const result = await runOutage(scenario, { ...load, ...length, seed })
  const silent = dead === undefined ? 'nobody was woken' : `${expected.join(' and ')} fired, and nothing else`
  const verdict = result.faults.length === 0 ? [`nothing was lost or doubled; ${silent}`] : result.faults
  process.stdout.write([...figuresOf(result), `seed ${seed}`, ...verdict, ''].join('\n'))
  return result.faults.length === 0 ? 0 : 1
}

function whole(name: string, given: string): number {
  const value = Number(given)
  if (!Number.isSafeInteger(value) || value < 1) throw new Refusal(`${name}: a whole number from 1`)
  return value
}
