import { mkdirSync, writeFileSync } from 'node:fs'
import { benchLedger } from './bench/ledger.js'
import { benchLedgerStress } from './bench/ledger-stress.js'
import { benchRecord } from './bench/record.js'
import { benchVerify } from './bench/verify.js'
import { Refusal } from './bootstrap/progress.mjs'

/** `npm run bench [-- <name>]`: each benchmark compares the service with a simple implementation in the same run. */
const benches: Record<string, () => Promise<{ table: string; results: unknown }>> = {
  record: benchRecord,
  verify: benchVerify,
  ledger: benchLedger,
  'ledger-stress': benchLedgerStress,
}
/** Takes long, so it runs only when it is named. */
const byNameOnly = new Set(['ledger-stress'])
const folder = 'bench-results'

async function main(names: readonly string[]): Promise<void> {
  const unknown = names.filter((name) => !(name in benches))
  if (unknown.length > 0)
    throw new Refusal(
      `unknown benchmark: ${unknown.join(', ')}. Benchmarks: ${Object.keys(benches).join(', ')}`,
    )
  mkdirSync(folder, { recursive: true })
  for (const [name, bench] of Object.entries(benches)) {
    if (names.length === 0 ? byNameOnly.has(name) : !names.includes(name)) continue
    const { table, results } = await bench()
    const file = `${folder}/${name}.json`
    writeFileSync(file, `${JSON.stringify(results, null, 2)}\n`)
    process.stdout.write(`\n${table}\nwritten to ${file}\n`)
  }
}

try {
  await main(process.argv.slice(2))
} catch (error) {
  process.stderr.write(`${error instanceof Refusal ? error.message : error}\n`)
  process.exitCode = 1
}
