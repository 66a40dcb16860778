import { mkdirSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { compareReleases } from './bench/compare/compare-releases.js'
import { benchCosts } from './bench/costs/costs.js'
import { benchLedger } from './bench/ledger/ledger.js'
import { benchLedgerStress } from './bench/ledger/stress.js'
import { benchLists } from './bench/lists.js'
import type { BenchOptions, Outcome } from './bench/outcome.js'
import { benchRecord } from './bench/record.js'
import { benchIntents } from './bench/requests/intents.js'
import { benchWithdrawals } from './bench/requests/withdrawals.js'
import { benchStreams } from './bench/streams/streams.js'
import { benchTools } from './bench/tools.js'
import { benchVerify } from './bench/verify.js'
import { Refusal } from './bootstrap/progress.mjs'

const usage = `npm run bench [-- <name> ...] [--rounds <n>]
npm run bench -- --compare <git ref> [<name> ...] [--rounds 5]

Each benchmark starts its own PostgreSQL and Redis, compares the service with a simple implementation in the same run, prints a table
of medians and writes bench-results/<name>.json. Without a name: those marked with *.

record *         recording a tip, against one insert in bare Koa and in Fastify
verify *         verifying tips, against one job and one call per tip
ledger *         postings, against BEGIN, SELECT FOR UPDATE, COMMIT
streams *        10,000 open event streams on one process: memory for each, time from the commit to the last client that has the
                 event, against bare Koa. --clients <n>
intents *        making payment intents, against one insert in bare Koa; SQL statements for each
withdrawals *    asking for a withdrawal and confirming it until it is accepted, against bare Koa; and sending them
ledger-stress    random postings from four processes that are killed
lists            a creator's pages at 100 thousand and at 10 million tips. --rows <n>
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
  tools: benchTools,
  costs: benchCosts,
}
/** These take long, or compare no peer, so they run only when they are named. */
const byNameOnly = new Set(['ledger-stress', 'lists', 'costs', 'tools'])
const folder = 'bench-results'
const defaultComparison = ['record']

async function main(names: readonly string[], options: BenchOptions): Promise<void> {
  mkdirSync(folder, { recursive: true })
  for (const [name, bench] of Object.entries(benches)) {
    if (names.length === 0 ? byNameOnly.has(name) : !names.includes(name)) continue
    const { table, results, figures, fault } = await bench(options)
    const file = `${folder}/${name}.json`
    writeFileSync(file, `${JSON.stringify({ figures, results }, null, 2)}\n`)
    process.stdout.write(`\n${table}\nwritten to ${file}\n`)
    if (fault !== undefined) throw new Refusal(`${name}: ${fault}`)
  }
}

function checkNames(names: readonly string[]): void {
  const unknown = names.filter((name) => !Object.hasOwn(benches, name))
  if (unknown.length > 0)
    throw new Refusal(
      `unknown benchmark: ${unknown.join(', ')}. Benchmarks: ${Object.keys(benches).join(', ')}`,
    )
}

function whole(option: string, given: string | undefined, least: number): number | undefined {
  if (given === undefined) return undefined
  const value = Number(given)
  if (!Number.isSafeInteger(value) || value < least)
    throw new Refusal(`--${option} is a whole number from ${least}`)
  return value
}

const text = { type: 'string' } as const
const flags = { help: { type: 'boolean' }, compare: text, rows: text, rounds: text, clients: text } as const

function readArguments() {
  try {
    return parseArgs({ allowPositionals: true, options: flags })
  } catch (error) {
    throw new Refusal(`${error instanceof Error ? error.message : error}\n\n${usage}`)
  }
}

try {
  const { values, positionals } = readArguments()
  if (values.help === true) process.stdout.write(usage)
  else {
    checkNames(positionals)
    const options = {
      rows: whole('rows', values.rows, 1000),
      rounds: whole('rounds', values.rounds, 1),
      clients: whole('clients', values.clients, 100),
    }
    if (values.compare === undefined) await main(positionals, options)
    else {
      const names = positionals.length > 0 ? positionals : defaultComparison
      process.exitCode = await compareReleases(values.compare, names, options)
    }
  }
} catch (error) {
  process.stderr.write(`${error instanceof Refusal ? error.message : error}\n`)
  process.exitCode = error instanceof Refusal ? error.exitCode : 1
}
