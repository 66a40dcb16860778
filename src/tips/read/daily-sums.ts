import type { Knex } from 'knex'
import { DomainError } from '../../kernel/errors.js'
import { displayNumber, divideHalfUp } from '../../kernel/money.js'
import { query } from '../../platform/database/database.js'
import type { Services } from '../../services.js'
import type { Day } from './creator-schemas.js'
import { microUsd } from './present.js'

/**
 * SQL that adds rows to the sums behind the daily figures (docs/decisions/0024). It belongs into the statement that changes
 * the tips, so that the sums always match them. `rows`: a query of party, recorded_at, mint, decimals, n (tips) and raw (base
 * units); both are negative when tips are taken back. The order of the rows is the order of locks.
 */
export function addToSums(rows: string): string {
  return /* sql */ `
    insert into tip_sums as s (party_id, hour, mint, decimals, count, raw)
    select party, date_trunc('hour', recorded_at, 'UTC') as hour, mint, min(decimals), sum(n), sum(raw)
    from (${rows}) changed group by 1, 2, 3 order by 1, 2, 3
    on conflict (party_id, hour, mint) do update set count = s.count + excluded.count, raw = s.raw + excluded.raw`
}

/** The sum of one token (mint null: fiat tips) on one day. A day without tips has one row without an amount. */
interface DayRow {
  readonly date: string
  readonly count: number
  readonly mint: string | null
  readonly decimals: number | null
  readonly raw: string | null
  /** Last known price in USD as decimal text; null when the token never had a price. */
  readonly usd: string | null
}

/** PostgreSQL: invalid_parameter_value. */
const invalidParameter = '22023'
const microPerCent = 10_000n

/**
 * Number and value of the confirmed tips a creator received on each of the last days (of a time zone, up to today), from sums
 * that are kept at confirmation. Includes empty days. The sums are by the hour: where days begin at half past, an hour counts
 * to the day in which it begins.
 */
export async function dailyTips(
  { reads }: Pick<Services, 'reads'>,
  userId: string,
  { days, timeZone }: { readonly days: number; readonly timeZone: string },
): Promise<Day[]> {
  const statement = {
    name: 'tips.daily',
    text: /* sql */ `
      with today as (select (now() at time zone $3)::date as day),
      days as (
        select day - n as day from today, generate_series(0, $2::int - 1) n),
      received as (
        select (hour at time zone $3)::date as day, mint, min(decimals) as decimals, sum(count)::int as count, sum(raw) as raw
        from tip_sums
        where party_id = (select id from parties where user_id = $1)
          and hour >= (select (day - ($2::int - 1))::timestamp at time zone $3 from today)
        group by 1, 2)
      select to_char(d.day, 'YYYY-MM-DD') as date, coalesce(r.count, 0) as count, r.mint, r.decimals, r.raw, p.usd
      from days d left join received r on r.day = d.day left join prices p on p.mint = r.mint
      order by d.day`,
    values: [userId, days, timeZone],
  }
  const rows = await reads((db) => query<DayRow>(db, statement)).catch(refuseUnknownZone)
  const byDate = new Map<string, { count: number; micro: bigint }>()
  for (const row of rows) {
    const { count, micro } = byDate.get(row.date) ?? { count: 0, micro: 0n }
    byDate.set(row.date, { count: count + row.count, micro: micro + microUsdOf(row) })
  }
  return [...byDate].map(([date, { count, micro }]) => ({
    date,
    count,
    valueUsd: displayNumber(divideHalfUp(micro, microPerCent), 2),
  }))
}

/** The value in USD of the confirmed tips that a creator received and that were recorded since then, from the same sums. */
export async function tipsSince(db: Knex, userId: string, since: Date): Promise<number> {
  const rows = await query<Omit<DayRow, 'date' | 'count'>>(db, {
    name: 'tips.since',
    text: /* sql */ `
      with party as (select id from parties where user_id = $1),
      received as (
        select mint, decimals, raw from tip_sums
        where party_id = (select id from party) and hour >= $2::timestamptz
        union all
        -- The hour that had begun.
        select mint, decimals, display_raw from tips
        where recipient_party = (select id from party) and status = 'confirmed'
          and recorded_at >= $2 and recorded_at < date_trunc('hour', $2::timestamptz, 'UTC') + interval '1 hour'
          and date_trunc('hour', $2::timestamptz, 'UTC') < $2)
      select r.mint, min(r.decimals) as decimals, sum(r.raw)::text as raw, p.usd
      from received r left join prices p on p.mint = r.mint group by r.mint, p.usd`,
    values: [userId, since],
  })
  const micro = rows.reduce((sum, row) => sum + microUsdOf(row), 0n)
  return displayNumber(divideHalfUp(micro, microPerCent), 2)
}

/** The database's list of time zones may be older than this process's. */
function refuseUnknownZone(error: unknown): never {
  throw (error as { code?: unknown })?.code === invalidParameter
    ? new DomainError('invalid_time_zone')
    : error
}

function microUsdOf({ mint, decimals, raw, usd }: Omit<DayRow, 'date' | 'count'>): bigint {
  return decimals === null || raw === null ? 0n : microUsd({ mint, decimals, displayRaw: raw, usd })
}
