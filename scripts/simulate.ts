import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { printProgress, Refusal } from './bootstrap/progress.mjs'
import { withClosing } from './kit/closing.js'
import { writeFigures } from './kit/figures.js'
import { readOptions, unusualOptions, usageOf } from './kit/options.js'
import { textOf } from './kit/report.js'
import { startServer } from './simulate/database.js'
import { plants } from './simulate/plants.js'
import type { Outcome, Plan } from './simulate/run.js'
import type { ThreadOptions } from './simulate/thread.js'

const defaults = { seed: 0, hours: 1, seeds: 1, plant: '' }
const actsPerHour = 24
/** Of a long run, so that a month takes minutes. */
const mostActs = 1000
const reportSeconds = 10

const usage = `npm run simulate -- ${usageOf(defaults)}

Runs the withdrawals, naira tips and refunds of some creators for so many hours of its own time, in one thread: the product's code above
the ports, web processes and workers, two of each, creators, payers and operators who press everything at the worst moment, and a
naira provider that accepts and then times out, lags, lies once, and turns days later. Every statement and every call is a turn. The
seed decides whose turn it is, what goes wrong, and where a process is killed or stands still; Redis is away half of the time.
PostgreSQL is real, with the clock of the run. The same seed tells the same story.

Promises are checked after every few hundred turns, and once nothing goes wrong any more: no reference is executed twice, nobody is paid and has
the money back unless a review says so, the books are exact and are what the provider has, everything ends. A broken one is shortened
to what is needed for it, and told. Exit code 1.

--seeds   so many seeds, from --seed on, one on each core. With an even one the provider executes a used reference again.
--plant   takes out a rule, which must be found: ${Object.keys(plants).join(', ')}
`

async function main(): Promise<void> {
  const { options } = readOptions(process.argv.slice(2), defaults)
  const { seed: given, hours, seeds, plant } = options
  if (plant !== '' && !Object.hasOwn(plants, plant))
    throw new Refusal(`--plant is one of ${Object.keys(plants).join(', ')}`)
  const first = given || (Date.now() % 1e9) + 1
  const sums = { turns: 0, withdrawals: 0, executed: 0, kills: 0 }
  const started = process.uptime()
  const broken = await withClosing(async (defer) => {
    let reported = started
    let next = first
    const simulateSeeds = async (nth: number): Promise<void> => {
      const data: ThreadOptions = { server: await startServer(defer, `.data/simulate/${nth}`), plant }
      const thread = new Worker(new URL('./simulate/thread.js', import.meta.url), { workerData: data })
      defer(() => thread.terminate())
      while (next < first + seeds) {
        const seed = next++
        const acts = Math.min(actsPerHour * hours, mostActs)
        thread.postMessage({ seed, hours, acts, deduplicates: seed % 2 === 1 } satisfies Plan)
        const [outcome] = (await once(thread, 'message')) as [Outcome]
        for (const name of ['turns', 'withdrawals', 'executed', 'kills'] as const) sums[name] += outcome[name]
        if (outcome.faults.length > 0) throw new BrokenPromise(seed, outcome)
        if (process.uptime() - reported <= reportSeconds) continue
        reported = process.uptime()
        printProgress(`seed ${seed}: ${sums.withdrawals} withdrawals, ${sums.kills} kills`)
      }
    }
    await Promise.all(
      Array.from({ length: Math.min(seeds, availableParallelism()) }, (_, nth) => simulateSeeds(nth)),
    )
  }).catch((error: unknown) => {
    if (error instanceof BrokenPromise) return error
    throw error
  })
  if (broken) {
    tell(broken.outcome)
    process.stdout.write(
      `npm run simulate -- --seed ${broken.seed} --hours ${hours}${plant && ` --plant ${plant}`}\n`,
    )
    process.exitCode = 1
  }
  const minutes = (process.uptime() - started) / 60
  const rows: [string, number][] = [
    ...Object.entries(sums),
    ['withdrawals a minute', Math.round(sums.withdrawals / minutes)],
  ]
  const unusual = unusualOptions({ ...options, seed: 0 }, defaults)
  if (!broken) writeFigures(`npm run simulate${unusual && ` --${unusual}`}`, rows, first)
  const kept = broken ? 'a promise was broken' : 'every promise was kept'
  process.stdout.write(textOf({ rows, faults: [], kept }, `seeds from ${first} on, ${hours} h each`))
}

/** Ends the run. */
class BrokenPromise extends Error {
  readonly seed: number
  readonly outcome: Outcome

  constructor(seed: number, outcome: Outcome) {
    super(outcome.faults[0])
    this.seed = seed
    this.outcome = outcome
  }
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
