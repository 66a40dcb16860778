import { printProgress, Refusal } from './bootstrap/progress.mjs'
import { releases, rolling } from './faults/deploys.js'
import { runEventReaders } from './faults/events.js'
import { runHostility } from './faults/hostility.js'
import { runMonth } from './faults/month.js'
import { blackholes, connections, crashes } from './faults/outages.js'
import { runOverlays } from './faults/overlays.js'
import { payoutKinds, payouts } from './faults/payouts.js'
import { runReads } from './faults/reads.js'
import { runDrill } from './faults/restore.js'
import { standby } from './faults/standby.js'
import { sweeps } from './faults/sweeps.js'
import { playThieves } from './faults/thief/play-all.js'
import { runWebhooks } from './faults/webhooks.js'
import { type OpenScenario, runScenario, type ScenarioPlan } from './faults/world/run-scenario.js'
import { withClosing } from './kit/closing.js'
import { writeFigures } from './kit/figures.js'
import { type OptionDefaults, readOptions, unusualOptions, usageOf } from './kit/options.js'
import { type Report, textOf } from './kit/report.js'
import { quickCommits, type ServerUrls, startServers } from './kit/servers.js'

interface Kind {
  readonly help: string
  readonly options: OptionDefaults
  run(args: readonly string[]): Promise<Report & { readonly seed: number; readonly unusual: string }>
}

/** Every kind has a seed. */
function kind<Options extends OptionDefaults>(
  options: Options,
  help: string,
  run: (given: ReturnType<typeof readOptions<Options>>['options'], plan: Common) => Promise<Report>,
): Kind {
  return {
    help,
    options: { ...options, seed: 0 },
    async run(args) {
      const { options: given } = readOptions(args, { ...options, seed: 0 })
      const seed = Number(given['seed']) || (Date.now() % 1e9) + 1
      printProgress(`seed ${seed}`)
      const report = await run(given as Parameters<typeof run>[0], { seed, report: printProgress })
      return { ...report, seed, unusual: unusualOptions(given, options) }
    },
  }
}

type Common = Pick<ScenarioPlan, 'seed' | 'report'>

const outage = (open: OpenScenario, rounds: number, help: string): Kind =>
  kind({ rounds }, help, (given, plan) => runScenario(open, { ...plan, rounds: given.rounds }))

/** PostgreSQL is not killed here, so no commit waits for the disk. */
const onServers = <Result>(seed: number, run: (urls: ServerUrls) => Promise<Result>): Promise<Result> =>
  withClosing(async (defer) =>
    run({ ...(await startServers('.data/faults', defer, quickCommits)), namespace: `faults-${seed}` }),
  )

const kinds: Readonly<Record<string, Kind>> = {
  payouts: kind(
    { kills: 1000, kind: 'withdrawal' },
    `Kills the web process, the payout workers and the reconcilers (SIGKILL) at named points while creators are tipped and withdraw.
Meanwhile the payout provider times out, breaks connections, answers errors and is slow. Then compares every withdrawal with what
the provider did. The seed decides where processes are killed and how the provider misbehaves. --kind is withdrawal, tip-refund,
suspense-refund (the operator's command is killed too) or all, one after the other with so many kills each.`,
    async ({ kills, kind: given }, plan) => {
      const chosen = payoutKinds.filter((one) => given === 'all' || given === one)
      if (chosen.length === 0) throw new Refusal(`--kind is one of ${payoutKinds.join(', ')}, all`)
      const reports: Report[] = []
      for (const one of chosen)
        reports.push(
          await runScenario(payouts(kills, one), { ...plan, rounds: 0, creators: 8, concurrency: 8 }),
        )
      return {
        rows: reports.flatMap(({ rows }) => rows),
        faults: reports.flatMap(({ faults }) => faults),
        kept: reports[0]?.kept ?? '',
      }
    },
  ),
  sweeps: kind(
    { kills: 500 },
    `Kills custodians, operators' sweep commands and the web process at named points while tips arrive, creators are paid and take USDC
out. Meanwhile the chain drops transactions, its clock jumps past their last valid height, the RPC endpoint answers garbage, and
browsers are closed before they submit. What is owed must always be in custody.`,
    ({ kills }, plan) => runScenario(sweeps(kills), { ...plan, rounds: 0, creators: 10, concurrency: 6 }),
  ),
  month: kind(
    { tips: 10_000, kills: 200, days: 30 },
    `A shortened month of the whole business against built processes: tips in crypto and naira, withdrawals, sweeps, take-outs, refunds,
disputes, sales and moving rates, while all processes are killed. At the end of each day, when nothing is
under way, each account of the ledger must be what chain and bank have, and both must cover what is owed. At the end every tip,
payment, payout, refund, dispute, sweep and take-out is compared.`,
    (given, plan) => onServers(plan.seed, (urls) => runMonth(urls, { ...given, ...plan })),
  ),
  rolling: kind(
    { rounds: 10 },
    `Restarts every process of the service in each round, one after the other, with SIGTERM, under load and behind nginx where it is
installed. No request may fail, and no stream may break off or miss an event.`,
    ({ rounds }, plan) => runScenario(rolling(rounds), { ...plan, ...crowded, rounds }),
  ),
  releases: kind(
    { ref: '' },
    `Builds an older release (default: the last release) and runs it under the same load. Migrates its database, replaces its processes by
this release's one after the other, and goes back. No request may fail, and no stream may break off or miss an event.`,
    ({ ref }, plan) => runScenario(releases(ref), { ...plan, ...crowded, rounds: 2 }),
  ),
  crashes: outage(crashes, 20, 'PostgreSQL and processes are killed, alone and together.'),
  standby: outage(
    standby,
    9,
    `The primary is killed or stopped and its synchronous standby promoted, or the standby is killed. Needs the Debian package
postgresql, as restore does.`,
  ),
  reads: kind(
    { rounds: 2, rate: 20, lag: 30 },
    `Confirms so many tips a second while two web processes serve lists, polls and streams that come back, with a standby for reads. In
each round it falls --lag seconds behind, hangs, is killed, and is promoted and given other rows. Whoever reads must be shown every tip that
was shown to anybody before, and get an answer. Needs the Debian package postgresql.`,
    (given, plan) => runReads({ ...given, ...plan }),
  ),
  connections: outage(connections, 9, 'PostgreSQL takes 20 connections, and other programs take those too.'),
  blackholes: outage(
    blackholes,
    14,
    `Chain, prices, rates, naira provider, mail, Redis and PostgreSQL accept connections and never answer, one after the other and two at
once. What was sent meanwhile arrives late. Answers must come in time.`,
  ),
  events: kind(
    { events: 100_000, creators: 10, writers: 20, kill: 3, archive: 0 },
    `Records so many events of --creators by --writers at once, of which some roll back, while the web process and the dispatcher are
killed in turn every --kill seconds. Polling, a stream and webhooks must give what the log has, in its order and without a hole.
--archive: a closed month of so many events is exported and deleted meanwhile, and writing may take twice as long.`,
    (given, plan) => onServers(plan.seed, (urls) => runEventReaders(urls, { ...given, ...plan })),
  ),
  webhooks: kind(
    { events: 10_000, endpoints: 50, bad: 10, rate: 100, kill: 0 },
    `Records so many events a second for creators with one webhook each, of which --bad hang and as many fail, with two dispatchers.
Each event must reach the others, at the 99th percentile within two seconds. --kill: one dispatcher is killed every so many
seconds; then repeats are counted.`,
    (given, plan) => onServers(plan.seed, (urls) => runWebhooks(urls, { ...given, ...plan })),
  ),
  overlays: kind(
    { minutes: 10, rate: 20, overlays: 5, kill: 4 },
    `Gives a creator so many tips a second for --minutes. Some wait and are approved, some are held or lose their words. --overlays overlays
show them with the page's own queue and player, a hundred times faster. Every --kill seconds one of two web processes is killed or
restarted and one page is loaded again. Each alert must be shown once, alone and in order, and nothing that is held or hidden. Prints
how far behind the commit overlays are told.`,
    ({ minutes, ...given }, plan) =>
      onServers(plan.seed, (urls) => runOverlays(urls, { ...given, ...plan, seconds: minutes * 60 })),
  ),
  hostility: kind(
    { minutes: 60, requests: 1_000_000 },
    `Sends web process, workers and operators' page what attackers send, until --minutes or --requests are over: faulty requests of every
operation of the OpenAPI document, with and without credentials; mutated transactions; forged webhooks, and garbage in answer to webhooks;
slow, half-open and foreign connections. No answer may be an error of ours, no process end or grow, no money move, and a normal
client must be served throughout. Prints the shortest request that repeats a fault.`,
    (given, plan) => onServers(plan.seed, (urls) => runHostility(urls, { ...given, ...plan })),
  ),
  restore: kind(
    { payouts: 200 },
    `Takes a backup of the working service with pg_dump, under load; then come so many payouts, tips, take-outs and a sweep, and the server
is lost. pg_restore into a new one, the whole service starts, and an operator confirms what restore-check --adopt-all plans. Nothing
may be sent before it is accepted. Prints the time of each step.`,
    (given, plan) => runDrill({ ...given, ...plan }),
  ),
  thief: kind(
    { count: 1000, only: 0 },
    `Owners and thieves over HTTP, against web and worker processes: who signs in, changes what protects the account or withdraws is drawn.
The thief has the cookie, the password, both, or registered the e-mail first, and cannot read the owner's mail. No money may go to
the thief, and the owner must get the account back. Prints what came of each act, and the story of an account that was lost. --only
repeats one story.`,
    ({ count, only }, plan) =>
      onServers(plan.seed, (urls) =>
        playThieves(urls, { ...plan, first: only || 1, count: only > 0 ? 1 : count, webs: 2 }),
      ),
  ),
}

/** Many people and streams. */
const crowded = { concurrency: 6, readers: 10, acts: 300 }

function usage(): string {
  const lines = Object.entries(kinds).map(
    ([name, { options }]) => `npm run faults -- ${name} ${usageOf(options)}`,
  )
  const helps = Object.entries(kinds).map(
    ([name, { help }]) => `${name.padEnd(12)}${help.replaceAll('\n', `\n${' '.repeat(12)}`)}`,
  )
  return `${lines.join('\n')}

Payouts, sweeps, and all from rolling to blackholes run under a load of tips, withdrawals, repeats and streams. After each disturbance
the service must be itself again: how long that takes is printed. At the end every tip, payment, payout and account is compared with
chain, bank and what clients were told, and no event may be missing. A seed repeats a run; times and ids differ.

${helps.join('\n')}
`
}

try {
  const [name = '', ...args] = process.argv.slice(2)
  const chosen = kinds[name]
  if ([name, ...args].includes('--help')) process.stdout.write(usage())
  else if (chosen === undefined) throw new Refusal(usage())
  else {
    const { seed, unusual, ...report } = await chosen.run(args)
    process.stdout.write(textOf(report, `seed ${seed}: ${Math.round(process.uptime())} s`))
    if (report.faults.length === 0) writeFigures(`npm run faults -- ${name}${unusual}`, report.rows, seed)
    process.exitCode = report.faults.length === 0 ? 0 : 1
  }
} catch (error) {
  process.stderr.write(`${error instanceof Refusal ? error.message : error}\n`)
  process.exitCode = 1
}
