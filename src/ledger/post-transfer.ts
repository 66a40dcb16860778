import type { Knex } from 'knex'
import { DomainError } from '../kernel/errors.js'
import { query } from '../platform/database/database.js'
import type { Entry } from './accounts.js'
import { findTransfer } from './find-transfer.js'
import { checkTransfer, sameContent, type Transfer } from './transfer.js'

export interface Posted {
  readonly id: bigint
  /** True when it was there already: nothing was changed. */
  readonly repeated: boolean
}

interface Outcome {
  readonly id: bigint | null
  readonly overdrawn: boolean
  readonly reserved: boolean
}

/**
 * The whole posting in one statement. Users' accounts are locked by id before anything is written, so balances are
 * those of this moment and transfers never wait for each other in a circle; what is overdrawn, unknown or there
 * already writes nothing and leaves the caller's transaction usable. Balances move with the entries (migration
 * 0005). The arrays are sub-selects so that a plan which does not know their lengths looks no dearer than one that
 * does: PostgreSQL then plans once instead of at every posting.
 */
const postSql = /* sql */ `
with entry as materialized (
  select * from unnest((select $5::uuid[]), (select $6::text[]), (select $7::text[]), (select $8::bigint[]))
    as l(user_id, kind, currency, amount)
), locked as materialized (
  select a.id, l.amount, a.balance + l.amount as after from entry l
  join ledger_accounts a on a.user_id = l.user_id and a.kind = l.kind and a.currency = l.currency
  order by a.id for no key update of a
), side as materialized (
  select id, amount, after from locked
  union all
  select a.id, l.amount, null from entry l
  join ledger_accounts a on l.user_id is null and a.user_id is null and a.kind = l.kind and a.currency = l.currency
), verdict as materialized (
  select count(*) = cardinality($8::bigint[]) as known, coalesce(bool_or(after < 0), false) as overdrawn,
    (select id from ledger_transfers where idem = $4 and kind = 'reserve') as reserve
  from side
), transfer as (
  insert into ledger_transfers (idem, kind, ref, resolves)
  select $1, $2, $3, reserve from verdict
  where known and not overdrawn and ($4::text is null or reserve is not null)
  on conflict (idem) do nothing returning id
), entry as (
  insert into ledger_entries (transfer_id, account_id, amount, balance_after)
  select t.id, s.id, s.amount, s.after from transfer t, side s
)
select (select id from transfer) as id, overdrawn, reserve is not null as reserved from verdict`

/**
 * Posts a transfer in one round trip, on a pool or inside the caller's transaction. The same idem again changes
 * nothing and says so. Throws DomainError `insufficient_balance` when a user's account would fall below zero, and
 * a plain error for what only a mistake of ours can cause: other content under a used idem, no such reserve.
 */
export async function postTransfer(db: Knex, transfer: Transfer): Promise<Posted> {
  checkTransfer(transfer)
  const first = await attempt(db, transfer)
  if (first !== undefined) return first
  // An account does not exist yet. It is opened apart, since a statement does not see what it inserts itself.
  await openAccounts(db, transfer.entries)
  const second = await attempt(db, transfer)
  if (second === undefined) throw new Error(`No such platform account in transfer ${transfer.idem}`)
  return second
}

async function attempt(db: Knex, transfer: Transfer): Promise<Posted | undefined> {
  const { idem, entries } = transfer
  const [outcome] = await query<Outcome>(db, {
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
  // A statement of its own: one that waited for the same transfer does not see it in its own snapshot.
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

/** In one order, so that two transfers that open the same accounts do not wait for each other in a circle. */
export async function openAccounts(db: Knex, entries: readonly Entry[]): Promise<void> {
  const accounts = entries.map(({ account }) => account).filter(({ userId }) => userId !== null)
  await query(db, {
    name: 'ledger.open',
    text: /* sql */ `
      insert into ledger_accounts (user_id, kind, currency, balance)
      select user_id, kind, currency, 0 from unnest($1::uuid[], $2::text[], $3::text[]) as l(user_id, kind, currency)
      order by user_id, kind, currency
      on conflict do nothing`,
    values: [
      accounts.map(({ userId }) => userId),
      accounts.map(({ kind }) => kind),
      accounts.map(({ currency }) => currency),
    ],
  })
}
