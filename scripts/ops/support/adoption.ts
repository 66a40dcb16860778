import { createHash } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Composed } from '../../../src/compose.js'
import { isPayoutReference } from '../../../src/kernel/ids.js'
import { ProviderError } from '../../../src/kernel/provider-error.js'
import type { LostTime } from '../../../src/reserves/after-restore.js'
import { maxDays } from '../../../src/tips/confirm/find-uncredited.js'
import { findUncredited } from '../money/find-uncredited.js'
import { adoptLostSweep } from '../money/sweep.js'
import { adoptLostTakeOut } from '../money/take-outs.js'
import { adoptLostCharge } from '../restore/collections.js'
import type { Outcome } from './command.js'
import { changeIn, Order, RefusedError } from './order.js'
import { adoptPayout } from './outgoing/adopt-withdrawal.js'
import { createProgress } from './text.js'

/** Why and by whom everything is adopted. Empty in a plan. */
interface Given {
  readonly as?: string
  readonly reason?: string
}

/** Adopts one thing, or without `applies` only says what it would do. */
type Act = (applies: boolean) => Promise<Outcome>

interface Step {
  readonly text: string
  readonly act: Act
}

/** What can be adopted, in this order: tips first, because moves and payouts took what they brought. */
export interface Adoption {
  readonly tips: readonly Step[]
  readonly others: readonly Step[]
  /** What needs a person, with the reason. */
  readonly left: readonly string[]
  /** Of everything above: another difference, amount or owner gives another one. */
  readonly hash: string
}

const creditMs = 10 * 60_000
const pollMs = 2000
const dayMs = 86_400_000

/** What would be adopted of a comparison that begins at `since`, each with the plan of the command for it. */
export async function planAdoption(
  services: Composed,
  { transfers, collections, chain }: LostTime,
  since: Date,
  given: Given,
): Promise<Adoption> {
  const left: string[] = []
  const plan = async (acts: readonly (readonly [subject: string, act: Act])[]): Promise<Step[]> => {
    const steps: Step[] = []
    const say = createProgress()
    for (const [subject, act] of acts) {
      try {
        steps.push({ text: changeIn((await act(false)).text), act })
      } catch (error) {
        if (!(error instanceof RefusedError)) throw error
        left.push(`${subject}: ${error.message}`)
      }
      say(`${steps.length + left.length} of ${acts.length} planned`)
    }
    return steps
  }
  const order = (confirm: string, apply: boolean) => new Order({ ...given, confirm, apply })
  const charges = new Set(collections.flatMap((one) => chargeOf(one) ?? []))
  const signatures = (kind: string) => chain.filter((one) => one.kind === kind).map(({ subject }) => subject)
  // Whatever else used our key at the provider is not ours, even if it paid an account that a creator has used.
  const adoptable = transfers.filter(
    ({ providerReference, kind, ours }) =>
      isPayoutReference(providerReference.toUpperCase()) && (kind === 'not_ours' || ours === 'pending'),
  )
  const references = adoptable.map(({ providerReference }) => providerReference.toUpperCase())
  // All at once, in one walk over the custody wallets.
  let credited: Promise<Outcome> | undefined
  const credit: Act = () => {
    credited ??= findUncredited(services, daysSince(since), since, order('', true))
    return credited
  }
  const landed = chain.filter(({ kind }) => kind === 'payment')
  const tips = [
    ...landed.map(({ subject, shown }): Step => ({ text: `tip ${subject}: ${shown}`, act: credit })),
    ...(await plan(
      [...charges].map((one) => [one, (on) => adoptLostCharge(services, one, order(one, on))] as const),
    )),
  ]
  const others = await plan([
    ...signatures('sweep').map(
      (one) => [one, (on: boolean) => adoptLostSweep(services, one, order(one, on))] as const,
    ),
    ...signatures('take_out').map(
      (one) => [one, (on: boolean) => adoptLostTakeOut(services, one, order(one, on))] as const,
    ),
    ...references.map((reference) => {
      const lost = { reference, creator: undefined, debitMicro: undefined }
      return [reference, (on: boolean) => adoptPayout(services, lost, order(reference, on))] as const
    }),
  ])
  left.push(
    ...chain
      .filter(({ kind }) => kind === 'outflow' || kind === 'unread')
      .map(({ subject, kind, shown }) => `${subject}: ${kind}, ${shown}`),
    ...transfers
      .filter((one) => !adoptable.includes(one))
      .map(({ providerReference, kind, ours, theirs }) => differs(providerReference, kind, ours, theirs)),
    ...collections
      .filter((one) => chargeOf(one) === undefined)
      .map(({ subject, kind, ours, theirs }) => differs(subject, kind, ours, theirs)),
  )
  const lines = [...tips, ...others].map(({ text }) => text)
  return { tips, others, left, hash: hashOf([...lines, 'left', ...left]) }
}

const daysSince = (since: Date): number =>
  Math.min(maxDays, Math.max(1, Math.ceil((Date.now() - since.getTime()) / dayMs)))

/** Short enough to be typed. */
export function hashOf(lines: readonly string[]): string {
  return createHash('sha256').update(lines.join('\n')).digest('hex').slice(0, 12)
}

const differs = (subject: string, kind: string, ours: string | null, theirs: string | null): string =>
  `${subject}: ${kind}, ours ${ours ?? 'none'}, the provider's ${theirs ?? 'none'}`

/** The charge whose intent is lost. */
function chargeOf({ subject, kind, theirs }: LostTime['collections'][number]): string | undefined {
  if (kind !== 'not_ours' || !subject.startsWith('payment ')) return undefined
  return / for (fiatpay-[\w.=-]+)$/.exec(theirs ?? '')?.[1]
}

export interface Adopted {
  readonly count: number
  readonly refused: readonly string[]
}

/**
 * Adopts everything of a plan. What was recorded of tips is credited by verifier and settlement, which must run; moves and payouts come
 * after that. What is refused is left for the next time.
 */
export async function applyAdoption(services: Composed, { tips, others }: Adoption): Promise<Adopted> {
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
