import { setTimeout as sleep } from 'node:timers/promises'
import type { OperatorAction } from '../../../src/withdrawals/review/check-action.js'
import type { ReviewKind } from '../../../src/withdrawals/reviews.js'
import type { Draw } from '../../kit/draw.js'
import type { Answer } from '../../ops/support/command.js'
import { type Act, type ActContext, type ActResult, nothing } from './context.js'
import type { Stage } from './stage.js'

const reason = ['--reason', 'a random act']
const pauseMs = 10
/** Exit codes that a command may end with: done, refused, or come later. */
const doneOrRefused = [0, 1, 5]
const okOrNot = [0, 4]
const remedies: Readonly<Record<ReviewKind, OperatorAction>> = {
  unknown: 'void',
  mismatch: 'resolve',
  reversed: 'recredit',
  failed_after_completed: 'recredit',
  paid_after_failed: 'close',
  paid_after_recredit: 'close',
  debt: 'release',
}
/** What a command prints about an error that nobody foresaw. */
const crash = /^\w*[Ee]rror: /m

type Ordered = ActResult & { readonly end: Answer }

/** Runs a command. Another exit code than these, or a crash, breaks a promise. */
export async function order(
  { commands }: Stage,
  [name, ...args]: readonly [string, ...string[]],
  codes: readonly number[],
  operator: 0 | 1 = 0,
): Promise<Ordered> {
  const end = await commands.run(name, args, operator)
  const said = (end.out || end.err).trim().split('\n', 1)[0] ?? ''
  const text = `${name} ${args.join(' ')}: ${end.code} ${said}`
  const isFault = !codes.includes(end.code) || crash.test(end.err)
  return { text, end, ...(isFault ? { broken: `${text}\n${end.err}` } : {}) }
}

/** Repeats `work` while a command runs. */
async function meanwhile(command: Promise<Ordered>, work: () => Promise<unknown>): Promise<Ordered> {
  let runs = true
  const ended = command.finally(() => {
    runs = false
  })
  while (runs) {
    await work()
    await Promise.race([ended, sleep(pauseMs)])
  }
  return ended
}

/** Withdrawals with an open review. */
function openReviews({ services }: Stage) {
  return services
    .db('review_items as r')
    .join('withdrawals as w', 'w.id', 'r.withdrawal_id')
    .whereNull('r.resolved_at')
    .orderBy('r.id')
}

/** A command on any withdrawal, with a share of those that its state does not allow. */
export const operate: Act = async ({ stage, draw, made }) => {
  const any = draw.one(made.references, true)
  if (any === undefined) return nothing
  // Half of the time one with an open review, of whose kind an alarm has told the operator.
  const cases: { reference: string; kind: ReviewKind }[] = draw.happens(0.5)
    ? []
    : await openReviews(stage).select('w.reference', 'r.kind')
  const { reference: about = any, kind } = draw.one(cases, true) ?? {}
  const action = chooseAction(draw, kind)
  const paid = action === 'resolve' ? ['--paid', `${draw.whole(0, 3) * 5000}.00`] : []
  const now = action === 'recredit' && draw.happens(0.6) ? ['--now'] : []
  const args = [
    'payouts',
    action,
    about,
    ...paid,
    ...now,
    '--apply',
    `--confirm=${about}`,
    ...reason,
  ] as const
  const how = draw.kind({ once: 10, twice: 1, together: 1 })
  if (how === 'together') {
    const [one, two] = await Promise.all(
      ([0, 1] as const).map((operator) => order(stage, args, doneOrRefused, operator)),
    )
    const text = `together: ${one?.text}; ${two?.text}`
    return { text, about, ...((one?.broken ?? two?.broken) !== undefined && { broken: text }) }
  }
  const first = await order(stage, args, doneOrRefused)
  if (how === 'once' && action === 'recredit' && first.end.code === 0) made.recredited.push(about)
  return {
    ...(how === 'once' || first.broken !== undefined ? first : await order(stage, args, doneOrRefused)),
    about,
  }
}

/** Mostly what the runbook says for a review of this kind. */
function chooseAction(draw: Draw, kind: ReviewKind | undefined): OperatorAction {
  if (kind !== undefined && draw.happens(0.7)) return remedies[kind]
  return draw.kind({ replay: 3, release: 2, void: 3, recredit: 5, resolve: 3, close: 2, reopen: 2 })
}

/** `payouts ask` waits for the reconciler, which runs meanwhile. */
export const ask: Act = async ({ stage, draw, made }) => {
  const reference = draw.one(made.references, true)
  if (reference === undefined) return nothing
  const asked = order(stage, ['payouts', 'ask', reference], doneOrRefused)
  return { ...(await meanwhile(asked, () => stage.batches.reconciler())), about: reference }
}

/** Commands that only look. */
export const look: Act = async ({ stage, draw }) => {
  if (draw.happens(0.3)) return compare(stage)
  const seen = await order(stage, ['suspense'], okOrNot)
  const differ = seen.end.out.includes('THEY DIFFER')
  return differ ? { ...seen, broken: 'suspense and the ledger differ' } : seen
}

/** `payouts compare` must list what was paid again and waits for a person. */
async function compare(stage: Stage): Promise<ActResult> {
  const again: string[] = await openReviews(stage)
    .where({ 'r.kind': 'paid_after_recredit' })
    .pluck('w.provider_reference')
  const compared = await order(stage, ['payouts', 'compare', '--json'], [0, 4, 5])
  const silent = again.find((reference) => !compared.end.out.includes(reference))
  if (compared.end.code === 5 || silent === undefined) return compared
  return { ...compared, broken: `payouts compare does not list ${silent}, which was paid again` }
}

/** Money in suspense is assigned, recorded as returned, or refunded. The payment may be resolved already. */
export const suspense: Act = async (context) => {
  const { stage, draw, truth } = context
  const payments = await stage.services
    .db('suspense_items')
    .orderBy('created_at')
    .pluck('provider_transaction')
  const payment: string | undefined = draw.one(payments, true)
  if (payment === undefined) return nothing
  const how = draw.kind({ assign: 5, returned: 4, refund: 2 })
  if (how === 'refund') return refund(context, payment)
  const args = ['suspense', `--${how}`, payment, '--apply', '--json', ...reason] as const
  const done = await order(stage, args, doneOrRefused)
  if (how === 'returned' && done.end.code === 0)
    truth.returned.set(payment, Number((JSON.parse(done.end.out) as { kobo: string }).kobo))
  return done
}

/** The provider refuses the refund, does not answer, or ends it while the command follows it. */
async function refund({ stage, draw }: ActContext, payment: string): Promise<ActResult> {
  const { refunds, faults } = stage.sandbox.fiatpay
  const mode = draw.kind({ manual: 4, reject: 1, '500': 1, 'accept-then-500': 2 })
  const status = draw.kind({ processed: 5, failed: 2 })
  faults.setMode({ refunds: mode })
  const args = ['suspense', '--refund', payment, '--apply', `--confirm=${payment}`, ...reason] as const
  const result = await meanwhile(order(stage, args, [0, 1, 4, 5]), async () => {
    const begun = refunds
      .all()
      .filter((one) => one.status === 'pending' && String(one.transaction) === payment)
    for (const one of mode === 'manual' ? begun : []) refunds.write({ ...one, status })
  })
  faults.setMode({ refunds: 'manual' })
  return result
}

/** Verifies a creator's identity or refuses it. */
export const identity: Act = async ({ stage, draw }) => {
  const { userId } = draw.oneOf(stage.creators)
  const refuse = draw.happens(0.9) ? ['--refuse'] : []
  const args = ['verify-identity', '--user', userId, ...refuse, '--apply', `--confirm=${userId}`] as const
  return order(stage, [...args, ...reason], doneOrRefused)
}

/** Accepts the exchange rate that is held back, or one that the operator looked up. */
export const acceptRate: Act = async ({ stage, draw }) => {
  const lookedUp = draw.happens(0.3) ? ['--rate', String(draw.whole(1500, 1700))] : []
  return order(stage, ['accept-rate', ...lookedUp, '--apply', ...reason], doneOrRefused)
}
