import { Refusal } from './bootstrap/progress.mjs'
import { runPayouts } from './faults/run-payouts.js'
import { runBalance, runCommits } from './faults/run-races.js'

/** `npm run faults -- <name>`: what a run of the tests has no time for. Exit code 1 when a promise was broken. */
const usage = `npm run faults -- payouts [--kills 1000] [--seed <n>] [--resume]
npm run faults -- balance
npm run faults -- commits

payouts   Kills the web, the payout workers and the reconcilers (SIGKILL) at named points while creators withdraw and the
          payout provider times out, breaks off, errs and lags; then compares every withdrawal with what the provider did.
          The seed decides where processes die and how the provider misbehaves. Figures so far are in
          bench-results/faults-payouts.json; --resume goes on with them.
balance   500 withdrawals of the whole balance at once from two web processes, 20 rounds: one succeeds in each.
commits   200 withdrawals whose COMMIT is not answered, each repeated under its key: held once each.
`

const runs: Readonly<Record<string, (args: readonly string[]) => Promise<number>>> = {
  payouts: runPayouts,
  balance: runBalance,
  commits: runCommits,
}

try {
  const [name = '', ...args] = process.argv.slice(2)
  const run = runs[name]
  if (run === undefined) throw new Refusal(usage)
  process.exitCode = await run(args)
} catch (error) {
  process.stderr.write(`${error instanceof Refusal ? error.message : error}\n`)
  process.exitCode = 1
}
