import { parseArgs } from 'node:util'
import { printProgress, Refusal } from '../../bootstrap/progress.mjs'
import { type OutageResult, runOutage } from './run.js'
import type { Scenario } from './scenario.js'
import { blackholes } from './scenarios/blackholes.js'
import { connections } from './scenarios/connections.js'
import { crashes } from './scenarios/crashes.js'
import { diskFull } from './scenarios/disk-full.js'
import { standby } from './scenarios/standby.js'

/** How many disturbances each scenario has, when nothing else is asked for. */
const scenarios = {
  crashes: [crashes, 20],
  standby: [standby, 9],
  'disk-full': [diskFull, 8],
  connections: [connections, 9],
  blackholes: [blackholes, 14],
} satisfies Record<string, readonly [Scenario, number]>

/** The scenarios as runs of `npm run faults`. */
export const outageRuns: Readonly<Record<string, (args: readonly string[]) => Promise<number>>> =
  Object.fromEntries(
    Object.entries(scenarios).map(([name, [scenario, rounds]]) => [
      name,
      (args: readonly string[]) => runNamed(scenario, rounds, args),
    ]),
  )

const load = { concurrency: 4, creators: 4, acts: 40, report: printProgress }

/** Returns the exit code. */
async function runNamed(scenario: Scenario, usual: number, args: readonly string[]): Promise<number> {
  const text = { type: 'string' } as const
  const { values } = parseArgs({ args: [...args], options: { rounds: text, seed: text } })
  const seed = whole('--seed', values.seed ?? String((Date.now() % 1e9) + 1))
  const rounds = whole('--rounds', values.rounds ?? String(usual))
  printProgress(`seed ${seed}: ${rounds} disturbances`)
  const startedAt = Date.now()
  const result = await runOutage(scenario, { ...load, seed, rounds })
  const seconds = Math.round((Date.now() - startedAt) / 1000)
  const verdict = result.faults.length === 0 ? ['nothing was lost, doubled or left half done'] : result.faults
  process.stdout.write([...figuresOf(result), `seed ${seed}: ${seconds} s`, ...verdict, ''].join('\n'))
  return result.faults.length === 0 ? 0 : 1
}

function figuresOf({ disturbances, notes, counts, landed, payouts, events, kills }: OutageResult): string[] {
  const row = (name: string, value: string | number): string =>
    `${name.padEnd(44)}${String(value).padStart(28)}`
  const names = [...new Set(disturbances.map(({ name }) => name))]
  const most = (values: readonly number[]): string => (Math.max(0, ...values) / 1000).toFixed(1)
  return [
    ...Object.entries(counts)
      .sort(([a], [b]) => a.localeCompare(b))
      .map(([name, count]) => row(name, count)),
    ...Object.entries(notes.answers)
      .sort(([a], [b]) => a.localeCompare(b))
      .map(([name, count]) => row(`answered ${name}`, `${count}, slowest ${notes.slowest[name]} ms`)),
    ...names.map((name) => {
      const each = disturbances.filter((one) => one.name === name)
      const lasted = most(each.map(({ lastedMs }) => lastedMs))
      const recovered = most(each.map(({ recoveredMs }) => recoveredMs))
      return row(name, `${each.length}; to ${lasted} s, again ${recovered} s`)
    }),
    row('requests', notes.count),
    row('crypto tips landed', landed),
    row('payouts executed', payouts),
    row('events that came', events),
    row('processes killed', kills),
  ]
}

function whole(name: string, given: string): number {
  const value = Number(given)
  if (!Number.isSafeInteger(value) || value < 1) throw new Refusal(`${name}: a whole number from 1`)
  return value
}
