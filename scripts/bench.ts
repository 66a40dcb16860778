import { mkdirSync, writeFileSync } from 'node:fs'
import { compareReleases } from './bench/compare-releases.js'
import { benchCosts } from './bench/costs.js'
import { benchLedger } from './bench/ledger/ledger.js'
import { benchLedgerStress } from './bench/ledger/stress.js'
import { benchLists } from './bench/lists.js'
import type { BenchOptions, Outcome } from './bench/measurement.js'
import { benchPages } from './bench/pages.js'
import { benchIntents, benchRecord } from './bench/requests.js'
import { benchStreams } from './bench/streams.js'
import { benchTools } from './bench/tools.js'
import { benchVerify } from './bench/verify.js'
import { benchWithdrawals } from './bench/withdrawals.js'
import { Refusal } from './bootstrap/progress.mjs'
import { table as markdownTable } from './check/keep-document.js'
import { writeFigures } from './kit/figures.js'
import { readOptions, unusualOptions } from './kit/options.js'
import { goalCells } from './kit/promised-runs.js'

const usage = `npm run bench [-- <name> ...] [--rounds <n>]
npm run bench -- --compare <git ref> [<name> ...] [--rounds 5]

Each benchmark starts its own PostgreSQL and Redis, compares the service with a simple implementation in the same run, prints a table
of medians, and writes bench-results/<name>.json. At the end: what has a goal, before and now, also in bench-results/goals.md. Without
a name: those marked with *.

record *         recording a tip, against one insert in bare Koa and in Fastify
verify *         verifying tips, against one job and one call per tip, fifty at once
ledger *         postings, against BEGIN, SELECT FOR UPDATE, COMMIT
streams *        10,000 open event streams on one process: memory for each, time from the commit to the last client that has the
                 event, against bare sockets. --clients <n>
intents *        making payment intents: CPU and SQL statements of each
withdrawals *    asking for a withdrawal and confirming it until it is accepted, and sending them
ledger-stress    random postings from four processes that are killed
lists            a creator's pages at 1 million and at 10 million tips, and the check of an open month. --rows <n>
pages            how long a stranger on a cheap phone with a bad network waits for a creator's page
tools            how long people wait for the commands of the README, in a new clone: dev, demo, tests, check
costs            what one tip, one naira tip and one withdrawal cost from beginning to end: CPU of each process kind, bytes, calls to
                 the node: the figures of docs/sizing.md

--compare        builds another commit in a temporary folder and runs these benchmarks against it and against this folder in turns. Says
                 whether this folder is faster, slower or the same, for each figure; a difference smaller than that between repeated runs
                 is the same. Exit code 4 when something is slower. Default: record.
--rounds <n>     how many runs the medians are of; with --compare, how many runs of each side. An odd number.
--help           this text
`

const benches: Record<string, (options: BenchOptions) => Promise<Outcome>> = {
  record: benchRecord,
  verify: benchVerify,
  ledger: benchLedger,
  streams: benchStreams,
  intents: benchIntents,
  withdrawals: benchWithdrawals,
  'ledger-stress': benchLedgerStress,
  lists: benchLists,
  pages: benchPages,
  tools: benchTools,
  costs: benchCosts,
}
/** These take long, or compare no peer, so they run only when they are named. */
const byNameOnly = new Set(['ledger-stress', 'lists', 'costs', 'pages', 'tools'])
const folder = 'bench-results'
const defaultComparison = ['record']

/** `unusual`: the options as they were typed. */
async function main(names: readonly string[], options: BenchOptions, unusual: string): Promise<void> {
  mkdirSync(folder, { recursive: true })
  const goals: string[][] = []
  try {
    for (const [name, bench] of Object.entries(benches)) {
      if (names.length === 0 ? byNameOnly.has(name) : !names.includes(name)) continue
      const { table, results, figures, rows, fault } = await bench(options)
      const file = `${folder}/${name}.json`
      writeFileSync(file, `${JSON.stringify({ figures, results }, null, 2)}\n`)
      const run = `npm run bench -- ${name}`
      process.stdout.write(`\n${table}\nwritten to ${file}\n`)
      for (const [row, value] of rows ?? []) goals.push([row, ...goalCells(run, row, value)])
      if (fault !== undefined) throw new Refusal(`${name}: ${fault}`)
      writeFigures(`${run}${unusual}`, rows ?? [])
    }
  } finally {
    writeGoals(goals.filter((cells) => cells.at(-1) !== ''))
  }
}

function writeGoals(rows: readonly string[][]): void {
  if (rows.length === 0) return
  const spaced = [['counted', 'before', 'now', 'goal'], ...rows].map((cells) =>
    cells.map((cell) => ` ${cell} `),
  )
  const text = markdownTable(spaced[0] ?? [], spaced.slice(1))
  writeFileSync(`${folder}/goals.md`, `${text}\n`)
  process.stdout.write(`\n${text}\nwritten to ${folder}/goals.md\n`)
}

function checkNames(names: readonly string[]): void {
  const unknown = names.filter((name) => !Object.hasOwn(benches, name))
  if (unknown.length > 0)
    throw new Refusal(
      `unknown benchmark: ${unknown.join(', ')}. Benchmarks: ${Object.keys(benches).join(', ')}`,
    )
}

try {
  const flags = { help: false, compare: '', rows: 0, rounds: 0, clients: 0 }
  const { options: given, names } = readOptions(process.argv.slice(2), flags)
  if (given.help) process.stdout.write(usage)
  else {
    checkNames(names)
    // 0: each benchmark's own number.
    const { rows, rounds, clients } = given
    const options = { rows: rows || undefined, rounds: rounds || undefined, clients: clients || undefined }
    if (given.compare === '') await main(names, options, unusualOptions(given, flags))
    else
      process.exitCode = await compareReleases(
        given.compare,
        names.length > 0 ? names : defaultComparison,
        options,
      )
  }
} catch (error) {
  process.stderr.write(`${error instanceof Refusal ? error.message : error}\n`)
  process.exitCode = error instanceof Refusal ? error.exitCode : 1
}
