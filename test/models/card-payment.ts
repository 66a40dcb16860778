import type { Act } from './checker.js'

// A payment by card of two units, and every way in which its payer can have them back: its creator refunds it, the payer disputes it,
// somebody refunds it at the provider's own pages, the bank reverses it (docs/decisions/0067). How a refund is sent once is in
// outgoing/; here it is under way, and then it is paid or not.
//
// Assumed of the provider: it never takes more than is left of the payment, it refuses a refund that it cannot pay, and it lists
// what it did. The look at its lists may be outdated when it is booked.

export const whole = 2

export type DisputeState = 'none' | 'open' | 'answered' | 'won' | 'lost'

/** What the provider has done. */
export interface Provider {
  readonly dispute: DisputeState
  /** What the lost dispute took. */
  readonly taken: number
  readonly refund: 'none' | 'open' | 'paid' | 'failed'
  /** Refunded at its own pages, and reversed by the bank without a dispute. */
  readonly outside: number
  readonly reversed: number
}

/** What a creator owes, or may come to owe, by one case (`receivables`). */
interface Case {
  readonly amount: number
  /** Set aside while it is not owed, paid once it is. */
  readonly covered: number
  readonly owed: boolean
}

export type CaseName = 'dispute' | 'outside' | 'reversal' | 'late'

export interface State {
  readonly provider: Provider
  /** The creator's balances, and what a bank account has of them. */
  readonly pending: number
  readonly available: number
  readonly held: number
  readonly withdrawn: number
  /** CARD_RESERVE_DAYS are over. */
  readonly daysOver: boolean
  /** The row of `refunds`. `asked`: the provider has or had it. */
  readonly refund: {
    readonly status: 'none' | 'pending' | 'submitted' | 'completed' | 'failed'
    readonly amount: number
    readonly asked: boolean
  }
  readonly dispute: DisputeState
  /** The books show the dispute's state. */
  readonly settled: boolean
  readonly cases: Readonly<Record<CaseName, Case | null>>
  /** Losses that are booked, by their case (`payment_returns`). */
  readonly booked: Readonly<Record<CaseName, number>>
  /** A look at the provider's lists that is not booked yet. */
  readonly look: Provider | null
  readonly oddities: number
}

export type CardFix =
  | 'card money is pending for some days'
  | 'a refund that fails is pending again'
  | 'a lost dispute waits for the refunds of its payment'
  | 'what a failed refund leaves is held for the dispute'
  | 'a refund that failed and was paid after all is booked'

export interface CardSetting {
  readonly oddities: number
  readonly without?: CardFix
}

export const startOf = ({ oddities, without }: CardSetting): State => {
  const isReserved = without !== 'card money is pending for some days'
  return {
    provider: { dispute: 'none', taken: 0, refund: 'none', outside: 0, reversed: 0 },
    pending: isReserved ? whole : 0,
    available: isReserved ? 0 : whole,
    held: 0,
    withdrawn: 0,
    daysOver: false,
    refund: { status: 'none', amount: 0, asked: false },
    dispute: 'none',
    settled: true,
    cases: { dispute: null, outside: null, reversal: null, late: null },
    booked: { dispute: 0, outside: 0, reversal: 0, late: 0 },
    look: null,
    oddities,
  }
}

/** What the payer has back by now. */
export const backOf = ({
  provider: { taken, outside, reversed, refund },
  refund: { amount },
}: State): number => taken + outside + reversed + (refund === 'paid' ? amount : 0)

export function providerActs(state: State): Act<State>[] {
  const acts = disputeActs(state)
  const { provider, oddities, refund } = state
  const left = whole - backOf(state)
  const act = (text: string, change: Partial<Provider>): void => {
    acts.push({ text, to: { ...state, provider: { ...provider, ...change } }, helps: true })
  }
  if (provider.refund === 'open') act('the refund fails at the provider', { refund: 'failed' })
  const canPay = left >= refund.amount
  if (provider.refund === 'open' && canPay) act('the provider pays the refund', { refund: 'paid' })
  if (oddities === 0) return acts
  if (provider.refund === 'failed' && canPay)
    acts.push(odd(state, 'the failed refund is paid after all', { refund: 'paid' }))
  if (provider.outside === 0 && left > 0)
    acts.push(odd(state, 'somebody refunds one unit at the pages of the provider', { outside: 1 }))
  if (provider.dispute === 'none' && left > 0)
    acts.push(odd(state, 'the bank takes back what is left', { reversed: left }))
  return acts
}

/** What happens rarely. */
function odd(state: State, text: string, change: Partial<Provider>): Act<State> {
  const { oddities, provider } = state
  return {
    text,
    to: { ...state, oddities: oddities - 1, provider: { ...provider, ...change } },
    helps: false,
  }
}

function disputeActs(state: State): Act<State>[] {
  const { provider, oddities } = state
  const left = whole - backOf(state)
  const act = (text: string, change: Partial<Provider>, helps = true): Act<State> => ({
    text,
    to: { ...state, provider: { ...provider, ...change } },
    helps,
  })
  const decided = [
    act('the dispute is won', { dispute: 'won' }),
    act('the dispute is lost', { dispute: 'lost', taken: left }),
  ]
  const usual: Readonly<Record<DisputeState, readonly Act<State>[]>> = {
    none: left > 0 ? [act('the payer disputes the payment', { dispute: 'open' }, false)] : [],
    open: [...decided, act('an operator declines the dispute', { dispute: 'answered' })],
    answered: decided,
    won: [],
    lost: [],
  }
  const rare: Readonly<Record<DisputeState, readonly Act<State>[]>> = {
    none: [],
    open: [],
    answered: [odd(state, 'the bank wants another answer', { dispute: 'open' })],
    won: [odd(state, 'the dispute is lost after all', { dispute: 'lost', taken: left })],
    lost: [odd(state, 'the dispute is won after all', { dispute: 'won', taken: 0 })],
  }
  return [...usual[provider.dispute], ...(oddities > 0 ? rare[provider.dispute] : [])]
}
