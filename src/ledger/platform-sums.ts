import type { Knex } from 'knex'
import { longTransaction, query } from '../platform/database/database.js'
import type { Currency, PlatformAccountKind } from './accounts.js'
import { booksStatementMs } from './invariants.js'

/** The sums of platform accounts, in base units, by `<kind> <currency>`. */
export type PlatformSums = ReadonlyMap<string, bigint>

function sumOf(sums: PlatformSums, kind: PlatformAccountKind, currency: Currency): bigint {
  return sums.get(`${kind} ${currency}`) ?? 0n
}

/** What the platform has: such an account carries a minus. */
export function assetOf(sums: PlatformSums, kind: PlatformAccountKind, currency: Currency): bigint {
  return -sumOf(sums, kind, currency)
}

interface SumRow {
  readonly account: string
  /** Of the entries up to the new horizon, and of those after it. */
  readonly old: string
  readonly recent: string
  readonly horizon: bigint
}

/** Entries of transfers older than this are visible to everybody: no transaction lasts so long. */
const settledMinutes = 5

/** Reads the sums of these accounts after an entry, and the last entry that is older than the horizon. */
function readAfter(db: Knex, kinds: readonly PlatformAccountKind[], after: bigint): Promise<SumRow[]> {
  return query<SumRow>(db, {
    name: 'ledger.platform-sums',
    text: /* sql */ `
      with horizon as materialized (
        select greatest($2::bigint, coalesce((
          select max(e.id) from ledger_entries e where e.transfer_id = (
            select t.id from ledger_transfers t
            where t.created_at < clock_timestamp() - interval '${settledMinutes} minutes' order by t.id desc limit 1)), 0)) as id
      )
      select a.kind || ' ' || a.currency as account, h.id as horizon,
        coalesce(sum(e.amount) filter (where e.id <= h.id), 0)::text as old,
        coalesce(sum(e.amount) filter (where e.id > h.id), 0)::text as recent
      from horizon h cross join ledger_accounts a left join ledger_entries e on e.account_id = a.id and e.id > $2
      where a.user_id is null and a.kind = any($1::text[]) group by a.kind, a.currency, h.id`,
    values: [kinds, after],
  })
}

export interface PlatformSumReader {
  /** Reads every entry the first time, and later only what is new. Call it before `read`. */
  prepare(): Promise<void>
  /** The sums as the caller's transaction sees them. */
  read(db: Knex): Promise<PlatformSums>
}

/**
 * Sums of platform accounts, again and again. Platform accounts have no cached balance, so the sum of old entries is kept in this
 * process: entries never change.
 */
export function createPlatformSums(
  { db }: { readonly db: Knex },
  kinds: readonly PlatformAccountKind[],
): PlatformSumReader {
  let base: ReadonlyMap<string, bigint> = new Map()
  let after = 0n
  async function read(db: Knex): Promise<PlatformSums> {
    const before = base
    const rows = await readAfter(db, kinds, after)
    const old = new Map(rows.map(({ account, old }) => [account, (before.get(account) ?? 0n) + BigInt(old)]))
    base = old
    after = rows[0]?.horizon ?? after
    return new Map(rows.map(({ account, recent }) => [account, (old.get(account) ?? 0n) + BigInt(recent)]))
  }
  return {
    async prepare() {
      if (after > 0n) return
      await longTransaction(db, booksStatementMs, read)
    },
    read,
  }
}
