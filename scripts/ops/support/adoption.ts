import { createHash } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Composed } from '../../../src/compose.js'
import { isPayoutReference } from '../../../src/kernel/ids.js'
import { ProviderError } from '../../../src/kernel/provider-error.js'
import type { LostTime } from '../../../src/reserves/after-restore.js'
import type { ChainDifference } from '../../../src/reserves/compare-chain.js'
import { maxDays } from '../../../src/tips/confirm/find-uncredited.js'
import { findUncredited } from '../money/find-uncredited.js'
import { adoptLostSweep } from '../money/sweep.js'
import { adoptLostTakeOut } from '../money/take-outs.js'
import { adoptLostCharge } from '../restore/collections.js'
import type { Outcome } from './command.js'
import { changeIn, Order, RefusedError } from './order.js'
import { adoptPayout } from './outgoing/adopt-withdrawal.js'
import { createProgress } from './text.js'

/** Adopts one thing, or without `applies` only says what it would do. */
type Act = (applies: boolean) => Promise<Outcome>

/** What the rows and the outside show differently after a restore. */
interface Difference {
  readonly subject: string
  readonly text: string
  /** The command for it, or what else to do. Empty: nothing of ours. */
  readonly next: string
  /** Undefined: it needs a person. */
  readonly adopt?: Act
  /** What adopting it does, when that need not be planned. */
  readonly plan?: string
  /** Whether it brings money: tips come first, because moves and payouts took what they brought. */
  readonly isTip?: boolean
}

const creditMs = 10 * 60_000
const pollMs = 2000
const dayMs = 86_400_000

/** Every difference of a comparison that begins at `since`. `given`: why and by whom they are adopted; empty in a plan. */
export function differencesOf(
  services: Composed,
  { transfers, collections, chain }: LostTime,
  since: Date,
  given: { readonly as?: string; readonly reason?: string },
): readonly Difference[] {
  const order = (confirm: string, apply: boolean) => new Order({ ...given, confirm, apply })
  const days = Math.min(maxDays, Math.max(1, Math.ceil((Date.now() - since.getTime()) / dayMs)))
  // All at once, in one walk over the custody wallets.
  let credited: Promise<Outcome> | undefined
  const credit: Act = () => {
    credited ??= findUncredited(services, days, since, order('', true))
    return credited
  }
  const ofChain = ({ subject, kind, shown }: ChainDifference): Omit<Difference, 'subject' | 'text'> => {
    const next = `find-uncredited --since ${since.toISOString()} --apply`
    if (kind === 'payment') return { next, adopt: credit, plan: `tip ${subject}: ${shown}`, isTip: true }
    if (kind === 'outflow') return { next: 'no process of ours signs this: a key may be stolen' }
    if (kind === 'unread') return { next: 'look it up elsewhere' }
    const [command, adoptLost] =
      kind === 'sweep' ? (['sweep', adoptLostSweep] as const) : (['take-outs', adoptLostTakeOut] as const)
    const adopt: Act = (applies) => adoptLost(services, subject, order(subject, applies))
    return { next: `${command} --adopt ${subject}`, adopt }
  }
  return [
    ...chain.map((one) => ({ subject: one.subject, text: `${one.kind}: ${one.shown}`, ...ofChain(one) })),
    ...transfers.map(({ providerReference: subject, kind, ours, theirs }): Difference => {
      const text = `${kind}: ${sides(ours, theirs)}`
      if (kind !== 'not_ours' && ours !== 'pending') return { subject, text, next: 'payouts show' }
      const reference = subject.toUpperCase()
      const adopt: Act = (applies) => {
        const lost = { reference, creator: undefined, debitMicro: undefined }
        return adoptPayout(services, lost, order(reference, applies))
      }
      // Whatever else used our key at the provider is not ours, even if it paid an account that a creator has used.
      const isOurs = isPayoutReference(reference)
      return { subject, text, next: `payouts adopt ${reference}`, ...(isOurs && { adopt }) }
    }),
    ...collections.map(({ subject, kind, ours, theirs }): Difference => {
      const text = `${kind}: ${sides(ours, theirs)}`
      if (kind !== 'not_ours' || !subject.startsWith('payment ')) return { subject, text, next: '' }
      const charge = / for ([\w.=-]+)$/.exec(theirs ?? '')?.[1] ?? '<reference>'
      const adopt: Act = (applies) => adoptLostCharge(services, charge, order(charge, applies))
      const next = `collections adopt ${charge}`
      return { subject, text, next, isTip: true, ...(charge.startsWith('fiatpay-') && { adopt }) }
    }),
  ]
}

const sides = (ours: string | null, theirs: string | null): string =>
  `ours ${ours ?? 'none'}, the provider's ${theirs ?? 'none'}`

/** Short enough to be typed. */
export function hashOf(lines: readonly string[]): string {
  return createHash('sha256').update(lines.join('\n')).digest('hex').slice(0, 12)
}

interface Step {
  readonly text: string
  readonly act: Act
}

export interface Adoption {
  readonly tips: readonly Step[]
  readonly others: readonly Step[]
  /** What needs a person, with the reason. */
  readonly left: readonly string[]
  /** Of everything above: another difference, amount or owner gives another one. */
  readonly hash: string
}

/** What would be adopted of these, each with the plan of the command for it. */
export async function planAdoption(differences: readonly Difference[]): Promise<Adoption> {
  const left: string[] = []
  const [tips, others]: [Step[], Step[]] = [[], []]
  const say = createProgress()
  // Two payments of one charge are adopted together.
  const seen = new Set<string>()
  for (const { subject, text, next, adopt, plan = next, isTip } of differences) {
    if (adopt !== undefined && seen.has(plan)) continue
    seen.add(plan)
    try {
      if (adopt === undefined) throw new RefusedError(text)
      const step = { text: plan === next ? changeIn((await adopt(false)).text) : plan, act: adopt }
      ;(isTip ? tips : others).push(step)
    } catch (error) {
      if (!(error instanceof RefusedError)) throw error
      left.push(`${subject}: ${error.message}`)
    }
    say(`${tips.length + others.length + left.length} of ${differences.length} planned`)
  }
  const lines = [...tips, ...others].map(({ text }) => text)
  return { tips, others, left, hash: hashOf([...lines, 'left', ...left]) }
}

/**
 * Adopts everything of a plan. What was recorded of tips is credited by verifier and settlement, which must run; moves and payouts come
 * after that. What is refused is left for the next time. Returns how many were adopted, and the others with the reason.
 */
export async function applyAdoption(
  services: Composed,
  { tips, others }: Adoption,
): Promise<{ readonly count: number; readonly refused: readonly string[] }> {
  const refused: string[] = []
  let count = 0
  const apply = async (steps: readonly Step[]): Promise<void> => {
    const say = createProgress()
    for (const { text, act } of steps) {
      try {
        await act(true)
        count++
      } catch (error) {
        if (!(error instanceof RefusedError || error instanceof ProviderError)) throw error
        refused.push(`${text}: ${error.message}`)
      }
      say(`${count} of ${steps.length} adopted`)
    }
  }
  const startedAt = new Date()
  await apply(tips)
  if (tips.length > 0) await untilCredited(services, startedAt)
  await apply(others)
  return { count, refused }
}

/** Until nothing that was recorded since then waits. Ends after ten minutes: what needs it is then refused, and left. */
async function untilCredited({ db }: Composed, since: Date): Promise<void> {
  const say = createProgress()
  for (const end = performance.now() + creditMs; performance.now() < end; await pause(pollMs)) {
    const { rows } = await db.raw<{ rows: { waiting: number }[] }>(
      /* sql */ `
      select count(*)::int as waiting from tips left join fiat_intents f using (id)
      where recorded_at >= ? and case kind when 'fiat' then status = 'pending'
        else finalized_at is null and outcome is null end`,
      [since],
    )
    const waiting = rows[0]?.waiting ?? 0
    if (waiting === 0) return
    say(`${waiting} tips wait for verifier and settlement`)
  }
}
