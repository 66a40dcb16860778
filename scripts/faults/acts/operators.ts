import { setTimeout as sleep } from 'node:timers/promises'
import { newPayoutReference } from '../../../src/kernel/ids.js'
import type { OperatorAction } from '../../../src/withdrawals/review/check-action.js'
import type { ReviewKind } from '../../../src/withdrawals/reviews.js'
import type { Draw } from '../../kit/draw.js'
import type { Answer } from '../../ops/support/command.js'
import { type Act, type ActContext, type ActResult, nothing } from './context.js'

const reason = ['--reason', 'a random act']
const pauseMs = 10
/** Exit codes that a command may end with: done, refused, or come later. */
const doneOrRefused = [0, 1, 5]
const okOrNot = [0, 4]
const usage = [2]
const unconfirmed = [3]
const refused = [1]
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

/** A command on any withdrawal, with a share of those that its state does not allow, and of those mistyped. */
export const operate: Act = async (context) => {
  const { draw, made } = context
  const chosen = await chooseCase(context)
  if (chosen === undefined) return nothing
  const { reference, kind } = chosen
  const action = chooseAction(draw, kind)
  const paid = action === 'resolve' ? ['--paid', `${draw.whole(0, 3) * 5000}.00`] : []
  const now = action === 'recredit' && draw.happens(0.6) ? ['--now'] : []
  const more = [...paid, ...now]
  const right = (about: string) => [action, about, ...more, '--apply', `--confirm=${about}`, ...reason]
  const other = newPayoutReference()
  const orders = {
    right: [right(reference), doneOrRefused],
    plan: [[action, reference, ...more], doneOrRefused],
    twice: [right(reference), doneOrRefused],
    together: [right(reference), doneOrRefused],
    unconfirmed: [[action, reference, ...more, '--apply', `--confirm=${other}`, ...reason], unconfirmed],
    unreasoned: [[action, reference, ...more, '--apply', `--confirm=${reference}`], usage],
    wrongFlag: [[...right(reference), action === 'recredit' ? '--paid=5000' : '--now'], usage],
    malformed: [right(reference.slice(1)), usage],
    unknown: [right(other), refused],
  } as const
  const how = draw.kind({
    right: 30,
    plan: 2,
    twice: 3,
    together: 3,
    unconfirmed: 1,
    unreasoned: 1,
    wrongFlag: 1,
    malformed: 1,
    unknown: 1,
  })
  const [args, codes] = orders[how]
  if (how === 'together') return { ...(await both(context, args, codes)), about: reference }
  const first = await order(context, 'payouts', args, codes)
  if (how === 'right' && action === 'recredit' && first.end.code === 0) made.recredited.push(reference)
  if (how !== 'twice' || first.broken !== undefined) return { ...first, about: reference }
  return { ...(await order(context, 'payouts', args, codes)), about: reference }
}

interface Case {
  readonly reference: string
  /** The kind of the open review that an alarm has told the operator about. */
  readonly kind?: ReviewKind
}

/** Half of the time a withdrawal with an open review, else any. */
async function chooseCase({ stage, draw, made }: ActContext): Promise<Case | undefined> {
  const any = draw.one(made.references, true)
  if (any === undefined) return undefined
  if (draw.happens(0.5)) return { reference: any }
  const rows: Case[] = await stage.services
    .db('review_items as r')
    .join('withdrawals as w', 'w.id', 'r.withdrawal_id')
    .whereNull('r.resolved_at')
    .orderBy('r.id')
    .select('w.reference', 'r.kind')
  return draw.one(rows, true) ?? { reference: any }
}

/** Mostly what the runbook says for a review of this kind. */
function chooseAction(draw: Draw, kind: ReviewKind | undefined): OperatorAction {
  if (kind !== undefined && draw.happens(0.7)) return remedies[kind]
  return draw.kind({ replay: 3, release: 2, void: 3, recredit: 5, resolve: 3, close: 2, reopen: 2 })
}

/** Two operators give the same command at the same time. */
async function both(
  context: ActContext,
  args: readonly string[],
  codes: readonly number[],
): Promise<ActResult> {
  const [one, other] = await Promise.all([
    order(context, 'payouts', args, codes, 0),
    order(context, 'payouts', args, codes, 1),
  ])
  const broken = one.broken ?? other.broken
  return { text: `together: ${one.text}; ${other.text}`, ...(broken === undefined ? {} : { broken }) }
}

/** `payouts ask` waits for the reconciler, which runs meanwhile. */
export const ask: Act = async (context) => {
  const { stage, draw, made } = context
  const reference = draw.one(made.references, true)
  if (reference === undefined) return nothing
  const asked = order(context, 'payouts', ['ask', reference], doneOrRefused)
  return { ...(await meanwhile(asked, () => stage.batches.reconciler())), about: reference }
}

/** Commands that only look. `payouts compare` must list what was paid again and waits for a person. */
export const look: Act = async (context) => {
  const { draw, made } = context
  const reference = draw.one(made.references, true)
  const how = draw.kind({ show: 4, list: 2, books: 2, suspense: 4, work: 1, compare: 2 })
  if (how === 'compare') return compare(context)
  if (how === 'books') return order(context, 'check-books', [], [0])
  if (how === 'work') return order(context, 'work', ['list'], okOrNot)
  if (how === 'list') return order(context, 'payouts', ['list', '--state', 'all'], [0])
  if (how === 'show')
    return reference === undefined ? nothing : order(context, 'payouts', ['show', reference], [0])
  const seen = await order(context, 'suspense', [], okOrNot)
  const differ = seen.end.out.includes('THEY DIFFER')
  return differ ? { ...seen, broken: 'suspense and the ledger differ' } : seen
}

interface PaidAgain {
  readonly reference: string
}

async function compare(context: ActContext): Promise<ActResult> {
  const { stage } = context
  const open: PaidAgain[] = await stage.services
    .db('review_items as r')
    .join('withdrawals as w', 'w.id', 'r.withdrawal_id')
    .where({ 'r.kind': 'paid_after_recredit' })
    .whereNull('r.resolved_at')
    .select({ reference: 'w.provider_reference' })
  const compared = await order(context, 'payouts', ['compare', '--json'], [0, 4, 5])
  if (compared.end.code === 5) return compared
  const silent = open.find(({ reference }) => !compared.end.out.includes(reference))
  if (silent === undefined) return compared
  return { ...compared, broken: `payouts compare does not list ${silent.reference}, which was paid again` }
}

/** Money in suspense is assigned, recorded as returned, or refunded. The payment may be resolved already. */
export const suspense: Act = async (context) => {
  const { stage, draw, truth } = context
  const rows = await stage.services.db('suspense_items').orderBy('created_at').select('provider_transaction')
  const payment: string | undefined = draw.one(rows, true)?.provider_transaction
  if (payment === undefined) return nothing
  const how = draw.kind({ assign: 5, returned: 4, refund: 2, both: 1, unknown: 1, unreasoned: 1 })
  if (how === 'both')
    return order(context, 'suspense', ['--assign', payment, '--refund', payment, '--apply'], usage)
  if (how === 'unknown') return order(context, 'suspense', ['--assign', '1', '--apply', ...reason], refused)
  if (how === 'unreasoned') return order(context, 'suspense', ['--assign', payment, '--apply'], usage)
  if (how !== 'refund') {
    const args = [`--${how}`, payment, '--apply', '--json', ...reason]
    const done = await order(context, 'suspense', args, doneOrRefused)
    if (how === 'returned' && done.end.code === 0)
      truth.returned.set(payment, Number((JSON.parse(done.end.out) as { kobo: string }).kobo))
    return done
  }
  return refund(context, payment)
}

/** The provider refuses the refund, does not answer, or ends it while the command follows it. */
async function refund(context: ActContext, payment: string): Promise<ActResult> {
  const { stage, draw } = context
  const { refunds, faults } = stage.sandbox.fiatpay
  const mode = draw.kind({ manual: 4, reject: 1, '500': 1, 'accept-then-500': 2 })
  const status = draw.kind({ processed: 5, failed: 2 })
  faults.setMode({ refunds: mode })
  const args = ['--refund', payment, '--apply', `--confirm=${payment}`, ...reason]
  const result = await meanwhile(order(context, 'suspense', args, [0, 1, 4, 5]), async () => {
    const begun = refunds
      .all()
      .filter((one) => one.status === 'pending' && String(one.transaction) === payment)
    for (const one of mode === 'manual' ? begun : []) refunds.write({ ...one, status })
  })
  faults.setMode({ refunds: 'manual' })
  return result
}

/** Repeats `work` while a command runs. */
async function meanwhile<Result>(command: Promise<Result>, work: () => Promise<unknown>): Promise<Result> {
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

/** Verifies a creator's identity or refuses it. */
export const identity: Act = async (context) => {
  const { stage, draw } = context
  const creator = draw.one(stage.creators)
  if (creator === undefined) return nothing
  const how = draw.kind({ verify: 1, refuse: 7, plan: 1, unconfirmed: 1 })
  const user = ['--user', creator.userId, ...(how === 'refuse' ? ['--refuse'] : [])]
  if (how === 'plan') return order(context, 'verify-identity', user, doneOrRefused)
  if (how === 'unconfirmed')
    return order(
      context,
      'verify-identity',
      [...user, '--apply', '--confirm=1', ...reason],
      [0, ...unconfirmed],
    )
  const args = [...user, '--apply', `--confirm=${creator.userId}`, ...reason]
  return order(context, 'verify-identity', args, doneOrRefused)
}

/** Accepts the exchange rate that is held back, or one that the operator looked up. */
export const acceptRate: Act = async (context) => {
  const { draw } = context
  const lookedUp = draw.happens(0.3) ? ['--rate', String(draw.whole(1500, 1700))] : []
  return order(context, 'accept-rate', [...lookedUp, '--apply', ...reason], doneOrRefused)
}

export const findUncredited: Act = async (context) => {
  const apply = context.draw.happens(0.7) ? ['--apply'] : []
  return order(context, 'find-uncredited', apply, okOrNot)
}

/** Runs a command. Another exit code than these, or a crash, breaks a promise. */
export async function order(
  { stage }: Pick<ActContext, 'stage'>,
  name: string,
  args: readonly string[],
  codes: readonly number[],
  operator: 0 | 1 = 0,
): Promise<ActResult & { readonly end: Answer }> {
  const end = await stage.commands.run(name, args, operator)
  const said = (end.out || end.err).trim().split('\n', 1)[0] ?? ''
  const text = `${name} ${args.join(' ')}: ${end.code} ${said}`
  const isFault = !codes.includes(end.code) || crash.test(end.err)
  return { text, end, ...(isFault ? { broken: `${text}\n${end.err}` } : {}) }
}
