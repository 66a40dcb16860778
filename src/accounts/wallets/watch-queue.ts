import type { DueRows } from '../../platform/database/due-rows.js'

/** What is known of one account of a wallet. */
export interface WatchedAccount {
  /** Base units; lamports of the wallet itself and of its wrapped SOL. Decimal text. */
  readonly held: string
  /** When it was last seen to hold something else, in ms since the epoch. */
  readonly changedMs: number
  /** Its transactions are not read to the end since then. */
  readonly isOpen: boolean
  /** The newest transaction that was read: older ones are not read again. */
  readonly until?: string | undefined
  /** Transactions are read from the newest to the oldest, a page at a time: the last one of the page before. */
  readonly before?: string | undefined
  /** Where the reading that goes on began. It becomes `until`. */
  readonly newest?: string | undefined
  /** Since when a transaction of the page cannot be read, in ms since the epoch. */
  readonly stuckMs?: number | undefined
}

/** A custody wallet that a worker has taken to look at. */
export interface DueWatch {
  readonly id: bigint
  readonly attempts: number
  readonly wallet: string
  /** The database's clock, and when the wallet was last active, in ms since the epoch. */
  readonly nowMs: number
  readonly activeMs: number
  readonly accounts: Readonly<Record<string, WatchedAccount>>
}

/** These wallets and their accounts of all listed tokens are one call of at most a hundred accounts. */
const walletsPerBatch = 16

/** The custody wallets, each looked at again and again. A row is added with the wallet's key (`provision-wallets.ts`). */
export const watchQueue: DueRows = {
  name: 'wallet-watches',
  table: 'wallet_watches',
  id: 'bigint',
  batchSize: walletsPerBatch,
  leaseSeconds: 120,
  columns: /* sql */ `
    t.id, t.attempts, (select public_key from wallets where id = t.id) as wallet, t.accounts,
    (extract(epoch from clock_timestamp()) * 1000)::float8 as "nowMs", (extract(epoch from t.active_at) * 1000)::float8 as "activeMs"`,
  onFinish: {
    columns: { accounts: 'jsonb', active: 'boolean' },
    set: /* sql */ `
      accounts = coalesce(s.accounts, t.accounts), active_at = case when s.active then clock_timestamp() else t.active_at end`,
  },
}

/** The owners in `owners`, a statement before this one, are here: their wallets are looked at now. */
export const watchOwnersSql = (owners: string): string => /* sql */ `
  update wallet_watches v set active_at = clock_timestamp(), due_at = least(v.due_at, clock_timestamp())
  from ${owners} o join wallets w on w.user_id = o.user_id where v.id = w.id`
