/** What the ledger counts in: micro-USDC and kobo, whole numbers. */
export type Currency = 'USDC' | 'NGN'

/** `pending`: seen, not final yet. `held`: reserved for a withdrawal. */
export type UserAccountKind = 'available' | 'pending' | 'held'

/** Where money is on our side of the books. Negative: owed to creators, such as what arrived on the chain. */
export type PlatformAccountKind = 'chain_clearing' | 'provider_clearing' | 'platform_fee' | 'fx' | 'suspense'

/** An account, named by what it is for. Accounts of users are opened by the first transfer that needs them. */
export interface LedgerAccount<C extends Currency = Currency> {
  /** Null for the platform's own. */
  readonly userId: string | null
  readonly kind: UserAccountKind | PlatformAccountKind
  readonly currency: C
}

/** One side of a transfer: base units of the account's currency, positive into the account. */
export interface Entry<C extends Currency = Currency> {
  readonly account: LedgerAccount<C>
  readonly amount: bigint
}

export function userAccount<C extends Currency>(
  userId: string,
  kind: UserAccountKind,
  currency: C,
): LedgerAccount<C> {
  return { userId, kind, currency }
}

export function platformAccount<C extends Currency>(
  kind: PlatformAccountKind,
  currency: C,
): LedgerAccount<C> {
  return { userId: null, kind, currency }
}

/** The two entries of moving so many base units; both accounts are of one currency. */
export function transferEntries<C extends Currency>(
  amount: bigint,
  from: LedgerAccount<C>,
  to: LedgerAccount<NoInfer<C>>,
): Entry[] {
  return [
    { account: from, amount: -amount },
    { account: to, amount },
  ]
}

/** Two accounts are the same one if, and only if, their keys are equal; ids are written in either case. */
export function accountKey({ userId, kind, currency }: LedgerAccount): string {
  return `${userId?.toLowerCase() ?? 'platform'} ${kind} ${currency}`
}
