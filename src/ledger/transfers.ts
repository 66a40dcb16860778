import type { Knex } from 'knex'
import { DomainError } from '../kernel/errors.js'
import { query } from '../platform/database/database.js'
import type { Entry } from './accounts.js'
import { checkTransfer, sameContent, type Transfer } from './check-transfer.js'
import { findTransfer } from './find-transfer.js'

/** A transfer as callers give it. The same key is posted once. `ref`: what it is about; the creator sees it. */
export interface NewTransfer {
  readonly key: string
  readonly ref: string
  readonly entries: readonly Entry[]
}

/** A posted transfer. */
export interface Posted {
  readonly id: bigint
  /** True when the transfer existed already and nothing changed. */
  readonly repeated: boolean
}

/** Moves money for good. */
export function credit(db: Knex, { key, ref, entries }: NewTransfer): Promise<Posted> {
  return postTransfer(db, { idem: key, kind: 'credit', ref, entries })
}

/**
 * Sets money aside: from `available` to `held` for a withdrawal, or into `pending` for a tip that is not final yet.
 * `postReserved` or `voidReserved` with the same key resolves it, once.
 */
export function reserve(db: Knex, { key, ref, entries }: NewTransfer): Promise<Posted> {
  return postTransfer(db, { idem: key, kind: 'reserve', ref, entries })
}

/** Moves what was reserved under this key to its destination. The database refuses less than all of it. */
export function postReserved(db: Knex, { key, ref, entries }: NewTransfer): Promise<Posted> {
  return postTransfer(db, { idem: resolutionKey(key), kind: 'post', ref, resolves: key, entries })
}

/** Gives a reserve back, entry by entry. Throws when nothing was reserved under this key, or it was posted. */
export async function voidReserved(db: Knex, key: string): Promise<Posted> {
  const reserved = await findTransfer(db, key)
  if (reserved?.kind !== 'reserve') throw new Error(`Nothing was reserved as ${key}`)
  const entries = reserved.entries.map(({ account, amount }) => ({ account, amount: -amount }))
  return postTransfer(db, {
    idem: resolutionKey(key),
    kind: 'void',
    ref: reserved.ref,
    resolves: key,
    entries,
  })
}

/** Post and void share one idem. The second of the two has other content under a used idem and is refused. */
export function resolutionKey(key: string): string {
  return `${key}:resolve`
}

interface PostOutcome {
  readonly id: bigint | null
  readonly overdrawn: boolean
  readonly reserved: boolean
}

/**
 * One statement posts a transfer. It locks users' accounts in the order of their ids before it writes anything, so the
 * balances are current and transfers cannot deadlock. When an account is missing or overdrawn, or the transfer exists,
 * it writes nothing and the caller's transaction stays usable. A trigger moves the balances with the entries
 * (`migrations/0007-ledger.ts`). The arrays are sub-selects so that the generic plan costs no more than a custom one:
 * PostgreSQL then plans once, not at every posting.
 */
const postSql = /* sql */ `
with given as materialized (
  select * from unnest((select $5::uuid[]), (select $6::text[]), (select $7::text[]), (select $8::bigint[]))
    as g(user_id, kind, currency, amount)
), locked as materialized (
  select a.id, g.amount, a.balance + g.amount as after from given g
  join ledger_accounts a on a.user_id = g.user_id and a.kind = g.kind and a.currency = g.currency
  order by a.id for no key update of a
), side as materialized (
  select id, amount, after from locked
  union all
  select a.id, g.amount, null from given g
  join ledger_accounts a on g.user_id is null and a.user_id is null and a.kind = g.kind and a.currency = g.currency
), checked as materialized (
  select count(*) = cardinality($8::bigint[]) as complete, coalesce(bool_or(after < 0), false) as overdrawn,
    (select id from ledger_transfers where idem = $4 and kind = 'reserve') as reserve
  from side
), transfer as (
  insert into ledger_transfers (idem, kind, ref, resolves)
  select $1, $2, $3, reserve from checked
  where complete and not overdrawn and ($4::text is null or reserve is not null)
  on conflict (idem) do nothing returning id
), entry as (
  insert into ledger_entries (transfer_id, account_id, amount, balance_after)
  select t.id, s.id, s.amount, s.after from transfer t, side s
)
select (select id from transfer) as id, overdrawn, reserve is not null as reserved from checked`

/**
 * Posts a transfer in one round trip, on a pool or in the caller's transaction. The same idem again changes nothing and
 * returns `repeated`. Throws DomainError `insufficient_balance` when a user's account would fall below zero, and a plain
 * Error for our own mistakes: other content under a used idem, or no such reserve.
 */
export async function postTransfer(db: Knex, transfer: Transfer): Promise<Posted> {
  checkTransfer(transfer)
  const first = await attempt(db, transfer)
  if (first !== undefined) return first
  // An account is missing. A separate statement opens it, because a statement does not see its own inserts.
  await openAccounts(db, transfer.entries)
  const second = await attempt(db, transfer)
  if (second === undefined) throw new Error(`No such platform account in transfer ${transfer.idem}`)
  return second
}

/** Undefined: an account is missing. */
async function attempt(db: Knex, transfer: Transfer): Promise<Posted | undefined> {
  const { idem, entries } = transfer
  const [outcome] = await query<PostOutcome>(db, {
    name: 'ledger.post',
    text: postSql,
    values: [
      idem,
      transfer.kind,
      transfer.ref,
      transfer.resolves ?? null,
      entries.map(({ account }) => account.userId),
      entries.map(({ account }) => account.kind),
      entries.map(({ account }) => account.currency),
      entries.map(({ amount }) => amount),
    ],
  })
  if (outcome === undefined) throw new Error('The posting did not answer')
  if (outcome.id !== null) return { id: outcome.id, repeated: false }
  // A separate statement: one that waited for the same transfer does not see it in its own snapshot.
  const earlier = await findTransfer(db, idem)
  if (earlier !== undefined) {
    if (!sameContent(earlier, transfer)) throw new Error(`Another transfer has the idem ${idem}`)
    return { id: earlier.id, repeated: true }
  }
  if (outcome.overdrawn) throw new DomainError('insufficient_balance')
  if (transfer.resolves !== undefined && !outcome.reserved)
    throw new Error(`Nothing was reserved as ${transfer.resolves}`)
  return undefined
}

/** In a fixed order, so that two transfers that open the same accounts cannot deadlock. */
export async function openAccounts(db: Knex, entries: readonly Entry[]): Promise<void> {
  const accounts = entries.map(({ account }) => account).filter(({ userId }) => userId !== null)
  await query(db, {
    name: 'ledger.open',
    text: /* sql */ `
      insert into ledger_accounts (user_id, kind, currency, balance)
      select user_id, kind, currency, 0 from unnest($1::uuid[], $2::text[], $3::text[]) as g(user_id, kind, currency)
      order by user_id, kind, currency
      on conflict do nothing`,
    values: [
      accounts.map(({ userId }) => userId),
      accounts.map(({ kind }) => kind),
      accounts.map(({ currency }) => currency),
    ],
  })
}
