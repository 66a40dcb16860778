import { mkdirSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { benchLedger } from './bench/ledger/ledger.js'
import { benchLedgerStress } from './bench/ledger/stress.js'
import { benchLists } from './bench/lists.js'
import { benchModels } from './bench/models.js'
import { benchRecord } from './bench/record.js'
import { benchVerify } from './bench/verify.js'
import { Refusal } from './bootstrap/progress.mjs'

interface Options {
  /** `lists`: the greater number of tips. */
  readonly rows: number | undefined
}
interface Outcome {
  readonly table: string
  readonly results: unknown
  /** What missed its goal, when that fails the benchmark. */
  readonly fault?: string | undefined
}

/** `npm run bench [-- <name>]`: each benchmark compares the service with a simple implementation in the same run. */
const benches: Record<string, (options: Options) => Promise<Outcome>> = {
  record: benchRecord,
  verify: benchVerify,
  ledger: benchLedger,
  'ledger-stress': benchLedgerStress,
  lists: benchLists,
  models: benchModels,
}
/** These take long, or compare no peer, so they run only when they are named. */
const byNameOnly = new Set(['ledger-stress', 'lists', 'models'])
const folder = 'bench-results'

async function main(names: readonly string[], options: Options): Promise<void> {
  const unknown = names.filter((name) => !(name in benches))
  if (unknown.length > 0)
    throw new Refusal(
      `unknown benchmark: ${unknown.join(', ')}. Benchmarks: ${Object.keys(benches).join(', ')}`,
    )
  mkdirSync(folder, { recursive: true })
  for (const [name, bench] of Object.entries(benches)) {
    if (names.length === 0 ? byNameOnly.has(name) : !names.includes(name)) continue
    const { table, results, fault } = await bench(options)
    const file = `${folder}/${name}.json`
    writeFileSync(file, `${JSON.stringify(results, null, 2)}\n`)
    process.stdout.write(`\n${table}\nwritten to ${file}\n`)
    if (fault !== undefined) throw new Refusal(`${name}: ${fault}`)
  }
}

try {
  const { values, positionals } = parseArgs({ allowPositionals: true, options: { rows: { type: 'string' } } })
  const rows = values.rows === undefined ? undefined : Number(values.rows)
  if (rows !== undefined && !(Number.isSafeInteger(rows) && rows >= 1000))
    throw new Refusal('--rows is a whole number from 1000')
  await main(positionals, { rows })
} catch (error) {
  process.stderr.write(`${error instanceof Refusal ? error.message : error}\n`)
  process.exitCode = 1
}
