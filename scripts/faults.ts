import { Refusal } from './bootstrap/progress.mjs'
import { runMonthCommand } from './faults/month/run-month.js'
import { outageRuns } from './faults/outages/run-outages.js'
import { runRestore } from './faults/restore/run-restore.js'
import { runReleasesCommand, runRollingCommand } from './faults/rolling/run-rolling.js'
import { runRotationsCommand } from './faults/rotations/run-rotations.js'
import { runActs } from './faults/run-acts.js'
import { runPayouts } from './faults/run-payouts.js'
import { runThief } from './faults/run-thief.js'
import { runSweeps } from './faults/sweeps/run-sweeps.js'

/** `npm run faults -- <name>`: long runs with faults, too long for the tests. Exit code 1 when a fault was found. */
const usage = `npm run faults -- payouts [--kills 1000] [--seed <n>] [--resume]
npm run faults -- sweeps [--kills 500] [--seed <n>]
npm run faults -- month [--tips 10000] [--kills 200] [--days 30] [--seed <n>]
npm run faults -- rolling [--rounds 10] [--requests 50000] [--seed <n>]
npm run faults -- releases [--ref <git ref>] [--requests 20000] [--seed <n>]
npm run faults -- crashes|standby|disk-full|connections|blackholes [--rounds <n>] [--seed <n>]
npm run faults -- restore [--payouts 200] [--seed <n>]
npm run faults -- rotations [--seed <n>]
npm run faults -- acts [--steps 20000] [--seed <n>] [--no-deduplicates]
npm run faults -- thief [--count 1000] [--seed <n>] [--only <n>]

payouts   Kills the web process, the payout workers and the reconcilers (SIGKILL) at named points while creators withdraw.
          Meanwhile the payout provider times out, breaks connections, answers errors and is slow. Then compares every
          withdrawal with what the provider did. The seed decides where processes are killed and how the provider
          misbehaves. The results are in bench-results/faults-payouts.json. --resume continues from them.
sweeps    Kills custodians, operators' sweep commands and the web process (SIGKILL) at named points while tips arrive, creators are
          paid and take USDC out. Meanwhile the chain drops transactions, its clock jumps past their last valid height, the RPC
          endpoint answers garbage, and browsers are closed before they submit. Then compares every sweep, every take-out, every
          book and the ledger with the chain. The seed decides where processes are killed.
month     A shortened month of the whole business against built processes: tips in crypto and naira, withdrawals, sweeps, take-outs,
          refunds, disputes, sales and moving rates, while all processes and operators' commands are killed. At the end of each day,
          when nothing is under way, each account of the ledger must be what chain and bank have, and both must cover what is owed.
          At the end every tip, payment, payout, refund, dispute, sweep and take-out is compared. Prints a table. The seed decides the
          acts, their order and where processes are killed; times and ids differ.
rolling   Restarts every process of the service in each round, one after the other, with SIGTERM, while tips are recorded, intents made,
          lists read and streams open. They run behind a proxy that repeats nothing and knows only what /ready says. No request may
          fail, and no stream may miss an event.
releases  Builds an older release (default: the last release) and runs it under the same load. Migrates its database, replaces
          its processes by this release's one after the other, and goes back. No request may fail, and no stream may miss an event.
          The next five run two web processes and all workers under a steady load of tips, withdrawals, repeats and streams, and
          disturb them --rounds times. After each time the service must be itself again: how long that takes is printed. At the end
          every tip, payment, payout and account is compared with chain, bank and what clients were told, and no event may be missing.
crashes   PostgreSQL and processes are killed, alone and together (20 times).
standby   The primary is killed or stopped and its synchronous standby promoted, or the standby is killed (9 times). Needs the
          Debian package postgresql.
disk-full The disk of PostgreSQL's data fills up and is freed again (8 times). Needs root and the Debian package postgresql.
connections
          PostgreSQL takes 20 connections, and other programs take those too (9 times).
blackholes
          Chain, prices, rates, naira provider, mail, Redis and PostgreSQL accept connections and never answer, one after the other
          and two at once (14 times). What was sent meanwhile arrives late. Answers must come in time.
restore   Needs Debian's package postgresql. Takes a backup of the working service with pg_dump, under load; then come so many payouts, tips
          in crypto and naira, take-outs and a sweep, and the server is lost. pg_restore into a new one, the whole service starts, and
          an operator confirms what restore-check --adopt-all plans. Nothing may be sent before it is accepted. At the end every tip, payment,
          payout, sweep and take-out, and each account of the ledger, is compared with chain and bank. Prints the time of each step.
rotations Changes every secret that can change under load, one after the other, with the steps of docs/keys.md: restarts of the
          processes that read it, the commands that seal again, wrong values at a start, and the old value at the end. No request may
          fail, no stream may miss an event, wrong values are refused, and old ones are refused after the overlap.
acts      A random order of acts of creators, payers, operators and the provider, the wrong ones too. After each step it
          checks what the step touched, and after every 50 everything. Prints the acts on the withdrawal whose promise is
          broken first. The seed decides the order and the kinds of the acts; times and ids differ. --no-deduplicates: the
          provider executes a used reference again, and the service runs with FIATPAY_DEDUPLICATES=false.
thief     Owners and thieves over HTTP, against web and worker processes: who signs in, changes what protects the account or
          withdraws is drawn. The thief has the cookie, the password, both, or registered the e-mail first, and cannot read
          the owner's mail. No money may go to the thief, and the owner must get the account back. Prints what came of each
          act, and the story of an account that was lost. The seed decides the order of the acts; --only repeats one story.
`

const runs: Readonly<Record<string, (args: readonly string[]) => Promise<number>>> = {
  payouts: runPayouts,
  sweeps: runSweeps,
  month: runMonthCommand,
  rolling: runRollingCommand,
  releases: runReleasesCommand,
  restore: runRestore,
  rotations: runRotationsCommand,
  acts: runActs,
  thief: runThief,
  ...outageRuns,
}

try {
  const [name = '', ...args] = process.argv.slice(2)
  const run = runs[name]
  if ([name, ...args].includes('--help')) process.stdout.write(usage)
  else if (run === undefined) throw new Refusal(usage)
  else process.exitCode = await run(args)
} catch (error) {
  process.stderr.write(`${error instanceof Refusal ? error.message : error}\n`)
  process.exitCode = 1
}
