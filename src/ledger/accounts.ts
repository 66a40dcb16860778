/** What the ledger counts in: micro-USDC and kobo, whole numbers. */
export type Currency = 'USDC' | 'NGN'

/** `pending`: confirmed on the chain, not final yet. `held`: reserved for a withdrawal. */
export type UserAccountKind = 'available' | 'pending' | 'held'

/** What the platform has, owes and earns. What it has carries a minus: an asset of 5 is a balance of -5. */
export type PlatformAccountKind =
  // What it has.
  | 'custody_wallets'
  | 'in_transit'
  | 'treasury'
  | 'float_ngn'
  | 'collections_receivable'
  | 'receivables'
  // What it owes besides creators' balances, and what it spends, earns and exchanges.
  | 'suspense'
  | 'provider_fees'
  | 'platform_fee'
  | 'fx'
  | 'equity'

/** An account, named by its purpose. The first transfer that needs a user's account opens it. */
export interface LedgerAccount<C extends Currency = Currency> {
  /** Null: an account of the platform. */
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

/** The two entries that move an amount from one account to another of the same currency. */
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

/** Equal for the same account, and only then. User ids come in upper and lower case. */
export function accountKey({ userId, kind, currency }: LedgerAccount): string {
  return `${userId?.toLowerCase() ?? 'platform'} ${kind} ${currency}`
}
