import { register } from 'node:module'
import { printProgress, Refusal } from './bootstrap/progress.mjs'
import { withClosing } from './kit/closing.js'
import { readOptions, usageOf } from './kit/options.js'
import { textOf } from './kit/report.js'
import { startDatabases } from './simulate/database.js'
import { plants } from './simulate/plants.js'
import type { Outcome } from './simulate/run.js'

const defaults = { seed: 0, hours: 1, seeds: 1, plant: '' }
const actsPerHour = 40
/** Of a long run, so that a month takes minutes. */
const mostActs = 4000
const reportSeconds = 10

const usage = `npm run simulate -- ${usageOf(defaults)}

Runs the withdrawals, naira tips and refunds of some creators for so many hours of its own time, in one process: the product's code above
the ports, web processes and workers, two of each, creators, payers and operators who press everything at the worst moment, and a
naira provider that accepts and then times out, lags, lies once, and turns days later. Every statement and every call is a turn. The
seed decides whose turn it is, what goes wrong, and where a process is killed or stands still; Redis is away half of the time.
PostgreSQL is real, with the clock of the run. The same seed tells the same story.

Promises are checked each quarter of an hour, and once nothing goes wrong any more: no reference is executed twice, nobody is paid and has
the money back unless a review says so, the books are exact and are what the provider has, everything ends. A broken one is shortened
to what is needed for it, and told. Exit code 1.

--seeds   so many seeds, from --seed on. With an even one the provider executes a used reference again.
--plant   takes out a rule, which must be found: ${Object.keys(plants).join(', ')}
`

async function main(): Promise<void> {
  const { options } = readOptions(process.argv.slice(2), defaults)
  const { seed: given, hours, seeds, plant } = options
  if (plant !== '' && !Object.hasOwn(plants, plant))
    throw new Refusal(`--plant is one of ${Object.keys(plants).join(', ')}`)
  if (plant !== '')
    register('./simulate/plant-hook.js', import.meta.url, { data: plants[plant as keyof typeof plants] })
  const { simulate } = await import('./simulate/run.js')
  const { shorten } = await import('./simulate/shorten.js')
  const first = given || (Date.now() % 1e9) + 1
  await withClosing(async (defer) => {
    const databases = await startDatabases(defer)
    const started = process.uptime()
    const sums = { turns: 0, withdrawals: 0, executed: 0, kills: 0 }
    let reported = started
    for (let seed = first; seed < first + seeds; seed++) {
      const acts = Math.min(actsPerHour * hours, mostActs)
      const plan = { seed, hours, acts, deduplicates: seed % 2 === 1 }
      const outcome = await simulate(databases, plan)
      for (const name of ['turns', 'withdrawals', 'executed', 'kills'] as const) sums[name] += outcome[name]
      if (outcome.faults.length > 0) {
        printProgress(`seed ${seed}: ${outcome.faults[0]}; shortening`)
        tell(await shorten(databases, plan, outcome, printProgress))
        process.stdout.write(
          `npm run simulate -- --seed ${seed} --hours ${hours}${plant && ` --plant ${plant}`}\n`,
        )
        process.exitCode = 1
        break
      }
      if (process.uptime() - reported > reportSeconds) {
        reported = process.uptime()
        printProgress(`seed ${seed}: ${sums.withdrawals} withdrawals, ${sums.kills} kills`)
      }
    }
    const minutes = (process.uptime() - started) / 60
    const rows: [string, number][] = [
      ...Object.entries(sums),
      ['withdrawals a minute', Math.round(sums.withdrawals / minutes)],
    ]
    const kept = process.exitCode === 1 ? 'a promise was broken' : 'every promise was kept'
    process.stdout.write(textOf({ rows, faults: [], kept }, `seeds from ${first} on, ${hours} h each`))
  })
}

/** The story in plain words: what is about what was broken, and what went wrong with processes. */
function tell({ faults, story }: Outcome): void {
  const ids = faults.flatMap((fault) => fault.match(/[0-9a-f]{32}/gi) ?? []).map((id) => id.toLowerCase())
  const isAbout = (line: string): boolean =>
    ids.length === 0 ||
    ids.some((id) => line.toLowerCase().includes(id)) ||
    / (is killed|stands still|does not get) /.test(line)
  const short = (line: string): string =>
    line.replace(/ \{.*\}$/s, '').replaceAll(/[0-9a-f]{32}/gi, (id) => id.slice(0, 8).toLowerCase())
  process.stdout.write([...story.filter(isAbout), ...faults].map((line) => `${short(line)}\n`).join(''))
}

try {
  if (process.argv.includes('--help')) process.stdout.write(usage)
  else await main()
} catch (error) {
  process.stderr.write(
    `${error instanceof Refusal ? error.message : error instanceof Error ? error.stack : error}\n`,
  )
  process.exitCode = 1
}
// Processes that were killed in the run leave timers.
process.exit()
