import type { Knex } from 'knex'
import { DomainError } from '../kernel/errors.js'
import { query, write } from '../platform/database/database.js'
import { accountKey, type Currency, type Entry } from './accounts.js'

/** A `credit` is final. A `reserve` is resolved later by one `post` or one `void`. */
export type TransferKind = 'credit' | 'reserve' | 'post' | 'void'

export interface Transfer {
  /** Unique: the same idem is posted once. At most 200 characters. */
  readonly idem: string
  readonly kind: TransferKind
  /** What the transfer is about, such as a withdrawal's reference. The creator sees it. At most 200 characters. */
  readonly ref: string
  /** The idem of the reserve that a `post` or `void` resolves. */
  readonly resolves?: string
  /** At least two; each account once; zero in each currency. */
  readonly entries: readonly Entry[]
}

/** Throws an error with the reasons when a transfer breaks the rules. The database refuses it too. */
export function checkTransfer({ idem, entries }: Transfer): void {
  const sums = new Map<string, bigint>()
  for (const { account, amount } of entries)
    sums.set(account.currency, (sums.get(account.currency) ?? 0n) + amount)
  const faults = [
    entries.length < 2 && 'it needs two entries',
    entries.some(({ amount }) => amount === 0n) && 'an entry has the amount zero',
    new Set(entries.map(({ account }) => accountKey(account))).size !== entries.length &&
      'an account occurs twice',
    [...sums.values()].some((sum) => sum !== 0n) && 'it does not sum to zero',
  ].filter((fault) => fault !== false)
  if (faults.length > 0) throw new Error(`Transfer ${idem} is no transfer: ${faults.join(', ')}`)
}

/** Whether two transfers with the same idem are equal. The order of the entries does not matter. */
export function sameContent(one: Transfer, other: Transfer): boolean {
  return contentOf(one) === contentOf(other)
}

function contentOf({ kind, ref, resolves, entries }: Transfer): string {
  const amounts = entries.map(({ account, amount }) => `${accountKey(account)} ${amount}`).sort()
  return JSON.stringify([kind, ref, resolves, amounts])
}

export interface Posted {
  readonly id: bigint
  /** True when the transfer existed already and nothing changed. */
  readonly repeated: boolean
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

/** `postTransfer` without what follows: what it makes available does not cover receivables. */
export async function postAlone(db: Knex, transfer: Transfer): Promise<Posted> {
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
      transfer.resolves,
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
  await write(db, {
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

/** The transfer with this idem, as it was posted. */
export async function findTransfer(
  db: Knex,
  idem: string,
): Promise<(Transfer & { readonly id: bigint }) | undefined> {
  type Row = Entry['account'] &
    Pick<Transfer, 'kind' | 'ref'> & {
      id: bigint
      resolves: string | null
      amount: bigint
      accountKind: Entry['account']['kind']
    }
  const rows = await query<Row>(db, {
    name: 'ledger.transfer',
    text: /* sql */ `
      select t.id, t.kind, t.ref, r.idem as resolves, a.user_id as "userId", a.kind as "accountKind", a.currency, e.amount
      from ledger_transfers t left join ledger_transfers r on r.id = t.resolves
      join ledger_entries e on e.transfer_id = t.id join ledger_accounts a on a.id = e.account_id
      where t.idem = $1`,
    values: [idem],
  })
  const [first] = rows
  if (first === undefined) return undefined
  const { id, kind, ref, resolves } = first
  const entries = rows.map(({ userId, accountKind, currency, amount }) => ({
    account: { userId, kind: accountKind, currency },
    amount,
  }))
  return { id, idem, kind, ref, ...(resolves === null ? {} : { resolves }), entries }
}

export interface Reserved {
  readonly idem: string
  readonly ref: string
  readonly userId: string
  readonly currency: Currency
  readonly amount: bigint
}

/** What the reserves with these idems put into users' pending accounts. */
export async function findReserved(db: Knex, idems: readonly string[]): Promise<Reserved[]> {
  if (idems.length === 0) return []
  return query(db, {
    name: 'ledger.reserved',
    text: /* sql */ `
      select t.idem, t.ref, a.user_id as "userId", a.currency, e.amount
      from ledger_transfers t join ledger_entries e on e.transfer_id = t.id join ledger_accounts a on a.id = e.account_id
      where t.idem = any((select $1::text[])::text[]) and t.kind = 'reserve' and a.kind = 'pending' and a.user_id is not null and e.amount > 0`,
    values: [idems],
  })
}
