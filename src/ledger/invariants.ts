import type { Knex } from 'knex'
import { longTransaction, query } from '../platform/database/database.js'

/** What is always true of the ledger. Each statement counts the violations among the transfers after $1, whose entries are $entries. */
const invariants: Readonly<Record<string, string>> = {
  'every transfer sums to zero in each currency': /* sql */ `
    select count(*) from (
      select from $entries e join ledger_accounts a on a.id = e.account_id
      group by e.transfer_id, a.currency having sum(e.amount) <> 0) as broken`,
  'every transfer has at least two entries': /* sql */ `
    select count(*) from ledger_transfers t where t.id > $1
      and (select count(*) from ledger_entries e where e.transfer_id = t.id) < 2`,
  'every entry continues the balance before it': /* sql */ `
    select count(*) from $entries e join ledger_accounts a on a.id = e.account_id
    where case when a.user_id is null then e.balance_after is not null
      else e.balance_after is distinct from e.amount + coalesce((
        select p.balance_after from ledger_entries p
        where p.account_id = e.account_id and p.id < e.id order by p.id desc limit 1), 0) end`,
  'every cached balance is the one after its last entry': /* sql */ `
    select count(*) from ledger_accounts a
    where a.user_id is not null and ($1 = 0 or a.id in (select account_id from ledger_entries where transfer_id > $1))
      and a.balance is distinct from coalesce((
        select e.balance_after from ledger_entries e where e.account_id = a.id order by e.id desc limit 1), 0)`,
  'every reserve is resolved at most once, by what takes back what it set aside': /* sql */ `
    select count(*) from ledger_transfers t left join ledger_transfers r on r.id = t.resolves
    where t.id > $1 and t.kind in ('post', 'void') and (
      r.id is null or r.kind <> 'reserve' or t.idem <> r.idem || ':resolve'
      or exists (select from ledger_transfers o where o.resolves = t.resolves and o.id <> t.id)
      or exists (
        select from unnest(array[t.id, r.id]) as either(id)
        cross join lateral (select * from ledger_entries where transfer_id = either.id offset 0) e
        cross join lateral (select kind from ledger_accounts where id = e.account_id offset 0) a
        where t.kind = 'void' or a.kind in ('pending', 'held')
        group by e.account_id having sum(e.amount) <> 0))`,
}

/** These read every entry, or all of an account. */
const fullInvariants: Readonly<Record<string, string>> = {
  'each currency sums to zero': /* sql */ `
    select count(*) from (
      select from ledger_entries e join ledger_accounts a on a.id = e.account_id where e.transfer_id > $1
      group by a.currency having sum(e.amount) <> 0) as broken`,
  'every cached balance is the sum of its entries': /* sql */ `
    select count(*) from ledger_accounts a
    left join (
      select account_id, sum(amount) as sum from ledger_entries where transfer_id > $1 group by account_id) e
      on e.account_id = a.id
    where a.user_id is not null and a.balance <> coalesce(e.sum, 0)`,
  'what creators owe is the balance of the account receivables': /* sql */ `
    select count(*) from (
      select (select coalesce(sum(amount_micro - covered_micro), 0) from receivables where owed and closed_at is null)
        + (select coalesce(sum(e.amount), 0) from ledger_accounts a join ledger_entries e on e.account_id = a.id
           where a.user_id is null and a.kind = 'receivables' and a.currency = 'USDC') as difference) as broken
    where difference <> 0 and $1 = 0`,
  'what is set aside for disputes is held': /* sql */ `
    select count(*) from (
      select creator_id, sum(covered_micro) as micro from receivables where not owed and closed_at is null group by creator_id) r
    where $1 = 0 and r.micro > coalesce((
      select balance from ledger_accounts where user_id = r.creator_id and kind = 'held' and currency = 'USDC'), 0)`,
  'no balance of a user is below zero': /* sql */ `
    select count(*) from ledger_accounts where user_id is not null and balance < 0 and $1 = 0`,
}

export interface BooksReport {
  readonly holds: boolean
  readonly invariants: readonly { readonly name: string; readonly violations: bigint }[]
  /** The newest transfer at the time of the check. */
  readonly newest: bigint
}

/** Statement timeout in ms of a full check, which reads every entry. */
export const booksStatementMs = 15 * 60 * 1000

/**
 * The last transfer before a time, for `after`. It reads back from the newest, so the years before cost nothing. An hour more: a
 * transfer gets its id before its time, and others meanwhile.
 */
export function findTransferBefore(db: Knex, time: Date): Promise<bigint> {
  return longTransaction(db, booksStatementMs, async (trx) => {
    const [row] = await query<{ id: bigint }>(trx, {
      name: 'ledger.transfer-before',
      text: /* sql */ `
        select id from ledger_transfers where created_at < $1::timestamptz - interval '1 hour' order by id desc limit 1`,
      values: [time],
    })
    return row?.id ?? 0n
  })
}

/**
 * Checks all books, or the transfers after `after`. Reads one snapshot, so that postings continue meanwhile. `statementMs`: time
 * limit of one statement, instead of the pool's. `say` hears which invariant is checked.
 */
export async function checkBooks(
  db: Knex,
  after = 0n,
  statementMs?: number,
  say?: (name: string) => void,
): Promise<BooksReport> {
  return inSnapshot(db, statementMs, async (trx) => {
    const checks = Object.entries(after === 0n ? { ...invariants, ...fullInvariants } : invariants)
    const counted = []
    for (const [name, sql] of checks) {
      say?.(name)
      counted.push({
        name,
        violations: await scalar(
          trx,
          sql.replaceAll('$entries', entriesAfter(after)).replaceAll('$1', String(after)),
        ),
      })
    }
    return {
      holds: counted.every(({ violations }) => violations === 0n),
      invariants: counted,
      newest: await scalar(trx, 'select coalesce(max(id), 0) as count from ledger_transfers'),
    }
  })
}

/** By themselves: by account, PostgreSQL would read all years of one that has an entry in every transfer. */
function entriesAfter(after: bigint): string {
  return after === 0n
    ? 'ledger_entries'
    : `(select * from ledger_entries where transfer_id > ${after} offset 0)`
}

/** The sum of what the transfers have moved in all accounts of one kind, in base units. The sums of a currency add up to zero. */
export interface BooksSum {
  readonly currency: string
  readonly kind: string
  readonly accounts: bigint
  readonly entries: bigint
  readonly units: string
}

/** Of all transfers, or of those after `after`. */
export async function sumBooks(db: Knex, after = 0n, statementMs?: number): Promise<BooksSum[]> {
  return inSnapshot(db, statementMs, async (trx) => {
    const { rows } = await trx.raw(/* sql */ `
      select a.currency, a.kind, count(distinct a.id) as accounts, count(e.id) as entries,
             coalesce(sum(e.amount), 0)::text as units
      from ledger_accounts a left join ledger_entries e on e.account_id = a.id and e.transfer_id > ${after}
      group by a.currency, a.kind order by a.currency desc, a.kind`)
    return rows
  })
}

function inSnapshot<Result>(
  db: Knex,
  statementMs: number | undefined,
  work: (trx: Knex.Transaction) => Promise<Result>,
): Promise<Result> {
  const snapshot = { isolationLevel: 'repeatable read', readOnly: true } as const
  if (statementMs === undefined) return db.transaction(work, snapshot)
  return longTransaction(db, statementMs, work, snapshot)
}

async function scalar(trx: Knex, sql: string): Promise<bigint> {
  const { rows } = await trx.raw(sql)
  return rows[0].count
}
