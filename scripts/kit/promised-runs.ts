/** A run whose figures docs/promises.md shows. */
interface PromisedRun {
  /** What it measures: after a change there its figures may be others. */
  readonly covers: readonly string[]
  /** The rows of its report that are shown. */
  readonly shows: readonly (string | Aim)[]
}

/** A row with a goal. `before`: what it was before the work towards release 1.0.0. */
interface Aim {
  readonly row: string
  readonly before?: number
  readonly atLeast?: number
  readonly atMost?: number
}

const outgoing = ['src/outgoing', 'src/withdrawals', 'src/providers/fiatpay', 'src/ledger']
const simulated = [...outgoing, 'src/fiat', 'scripts/simulate']
const streams = ['src/events', 'src/http', 'src/tips/read']

/** By the command, without its seed. */
export const promisedRuns: Readonly<Record<string, PromisedRun>> = {
  'npm run models': {
    covers: ['test/models', 'src/outgoing', 'src/tips/verify', 'src/treasury', 'src/fiat/lifecycle.ts'],
    shows: ['states', 'past bugs found again'],
  },
  'npm run simulate -- --seeds 2000': { covers: simulated, shows: ['withdrawals', 'executed', 'kills'] },
  'npm run simulate -- --hours 720 --seeds 10': {
    covers: simulated,
    shows: ['withdrawals', 'executed', 'kills'],
  },
  'npm run models -- --traces 1000': {
    covers: ['test/models/traces', 'test/models/outgoing', ...simulated],
    shows: ['traces', 'acts', 'states'],
  },
  'npm run mutate': {
    covers: [
      'src/kernel/money.ts',
      'src/outgoing/decide.ts',
      'src/ledger',
      'scripts/mutate',
      'test/kernel/money.test.ts',
      'test/withdrawals/decide.test.ts',
      'test/ledger',
    ],
    shows: ['money', 'decide', 'ledger'],
  },
  'npm run faults -- payouts': {
    covers: [...outgoing, 'scripts/faults/payouts.ts'],
    shows: ['processes killed', 'payouts executed', 'withdrawals: completed', 'withdrawals: failed'],
  },
  'npm run faults -- sweeps': {
    covers: ['src/treasury', 'src/ledger', 'src/providers/solana', 'scripts/faults/sweeps.ts'],
    shows: ['processes killed', 'sweeps: final', 'take-outs: final'],
  },
  'npm run faults -- month': {
    covers: ['src', 'workers', 'migrations', 'scripts/faults/month.ts', 'scripts/faults/world'],
    shows: ['payouts executed', 'sweeps: final', 'take-outs: final', 'left if everybody is paid'],
  },
  'npm run faults -- thief': {
    covers: ['src/accounts', 'src/withdrawals', 'scripts/faults/thief'],
    shows: ['withdrawals', 'payouts'],
  },
  'npm run faults -- hostility': {
    covers: ['src', 'workers', 'scripts/faults/hostility.ts', 'scripts/faults/hostile'],
    shows: [
      'requests',
      'mutated transactions matched',
      'mutated transactions all the way',
      'webhooks in',
      'hostile connections',
    ],
  },
  'npm run faults -- events': {
    covers: [...streams, 'src/webhooks', 'scripts/faults/events.ts'],
    shows: ['events in the logs', 'writers', 'kills', 'webhook messages', 'repeats of them'],
  },
  'npm run faults -- events --writers 4 --kill 1000 --archive 1000000': {
    covers: [
      'src/events',
      'src/platform/database/partitions.ts',
      'src/privacy/forget-again.ts',
      'src/webhooks/deliveries.ts',
      'scripts/ops/archive.ts',
      'scripts/ops/support/archive',
      'scripts/faults/events.ts',
      'scripts/faults/archive-month.ts',
    ],
    shows: [
      'events archived meanwhile',
      'ms of a transaction, p99',
      { row: 'of that, while a month was archived', atMost: 2 },
      { row: 'ms of the longest one meanwhile', atMost: 2500 },
    ],
  },
  'npm run faults -- webhooks': {
    covers: ['src/webhooks', 'src/events', 'scripts/faults/webhooks.ts'],
    shows: ['messages to the good ones', 'behind the record, ms: p50, p99, most'],
  },
  'npm run faults -- webhooks --events 12000 --rate 20 --kill 3': {
    covers: ['src/webhooks', 'src/events', 'scripts/faults/webhooks.ts'],
    shows: ['kills', 'messages to the good ones', 'repeats of them'],
  },
  'npm run faults -- overlays': {
    covers: [...streams, 'src/overlay', 'src/pages/overlay', 'scripts/faults/overlays.ts'],
    shows: ['tips', 'shown by all overlays', 'web processes killed, restarted'],
  },
  'npm run faults -- rolling': {
    covers: ['src', 'workers', 'scripts/faults/deploys.ts', 'scripts/faults/world'],
    shows: ['requests', 'every process restarted'],
  },
  'npm run faults -- releases': {
    covers: ['src', 'workers', 'migrations', 'scripts/faults/deploys.ts'],
    shows: ['requests'],
  },
  'npm run faults -- reads --rounds 1': {
    covers: ['src/platform/database/read-pool.ts', ...streams, 'scripts/faults/reads.ts'],
    shows: ['tips'],
  },
  'npm run bench -- record': {
    covers: ['src/tips/record', 'src/http', 'scripts/bench/requests.ts', 'scripts/bench/peers.ts'],
    shows: [
      '64 connections: per s',
      { row: '64 connections: of koa', before: 1.14, atLeast: 1.5 },
      { row: '64 connections: of fastify', before: 1, atLeast: 1.2 },
      { row: '1 connection: p50 of koa', before: 1.56, atMost: 1.3 },
    ],
  },
  'npm run bench -- verify': {
    covers: ['src/tips/verify', 'src/tips/confirm', 'src/providers/solana', 'scripts/bench/verify.ts'],
    shows: [
      'issued: tips per s',
      { row: 'issued: of 50 at once', before: 5.7, atLeast: 8 },
      { row: 'issued: calls per tip', atMost: 0.05 },
      { row: 'read: of 50 at once', before: 5.7, atLeast: 8 },
      { row: 'read: calls per tip', atMost: 1.05 },
    ],
  },
  'npm run bench -- ledger': {
    covers: ['src/ledger', 'scripts/bench/ledger'],
    shows: [
      { row: 'credit: of credit, peer', before: 1.84, atLeast: 2 },
      { row: 'hold: of hold, peer', atLeast: 2 },
    ],
  },
  'npm run bench -- ledger-stress': {
    covers: ['src/ledger', 'scripts/bench/ledger'],
    shows: ['operations', 'writers killed'],
  },
  'npm run bench -- intents': {
    covers: ['src/intents', 'src/http', 'scripts/bench/requests.ts'],
    shows: [{ row: 'intent: us both', before: 4300, atMost: 1800 }],
  },
  'npm run bench -- costs': {
    covers: ['src', 'workers', 'migrations', 'scripts/bench/costs.ts', 'scripts/faults/world/stage.ts'],
    shows: [
      { row: 'tip in crypto: CPU ms', before: 13.4, atMost: 7 },
      { row: 'tip in naira: CPU ms', before: 24.3, atMost: 12 },
      { row: 'withdrawal: CPU ms', before: 60.6, atMost: 28 },
      { row: 'withdrawal: KB of log', before: 36, atMost: 16 },
      { row: 'idle: CPU ms a second', before: 80, atMost: 25 },
    ],
  },
  'npm run bench -- streams': {
    covers: [...streams, 'scripts/bench/streams.ts', 'scripts/bench/peers.ts'],
    shows: [
      { row: 'streams: KiB each', atMost: 8 },
      'streams: last ms',
      'streams: p99 ms',
      { row: 'streams: p99 of sockets', atMost: 1.2 },
    ],
  },
  'npm run bench -- lists': {
    covers: [
      'src/tips/read',
      'src/ledger/statement.ts',
      'src/withdrawals/request',
      'scripts/bench/lists.ts',
      'scripts/bench/fill-lists.ts',
    ],
    shows: ['pages', 'time with many tips of that with few'],
  },
  'npm run bench -- pages': {
    covers: ['src/pages', 'src/public-page', 'scripts/bench/pages.ts'],
    shows: [
      { row: 'page: usable s', atMost: 3 },
      { row: 'page: KB', atMost: 48 },
      { row: 'checkout: usable s', atMost: 3 },
      { row: 'checkout: KB', atMost: 48 },
    ],
  },
}

/** A row of a promised run as a table shows it: before, now, and its goal in words, which is empty where it has none. */
export function goalCells(run: string, row: string, value: string | number): [string, string, string] {
  const aim = promisedRuns[run]?.shows.find(
    (shown): shown is Aim => typeof shown !== 'string' && shown.row === row,
  )
  return [
    aim?.before?.toLocaleString('en') ?? '',
    value.toLocaleString('en'),
    aim === undefined ? '' : goalText(aim, Number(value)),
  ]
}

function goalText({ atLeast, atMost }: Aim, value: number): string {
  const isMissed =
    value < (atLeast ?? Number.NEGATIVE_INFINITY) || value > (atMost ?? Number.POSITIVE_INFINITY)
  const goal = atLeast === undefined ? `at most ${atMost}` : `at least ${atLeast}`
  return isMissed ? `${goal}, missed` : goal
}
