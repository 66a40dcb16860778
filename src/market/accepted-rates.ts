import type { Knex } from 'knex'
import { databaseTime } from '../platform/database/base-model.js'
import { query, write } from '../platform/database/database.js'
import type { Services } from '../services.js'
import { emptyWindow, type RateWindow, rateJumpMinutes, rateWindowHours } from './exchange-rate-guard.js'
import { Rate } from './models.js'

export type AcceptedRate = Pick<Rate, 'id' | 'value' | 'asOf'>

/** The newest accepted rate and the time since its acceptance. */
export type LastAcceptedRate = AcceptedRate & { readonly ageSeconds: number }

const pair = 'USD/NGN'

export async function findLastAcceptedRate(db: Knex): Promise<LastAcceptedRate | undefined> {
  const [rate] = await query<LastAcceptedRate>(db, {
    name: 'rates.last',
    text: /* sql */ `
      select id, (value * 100000000)::bigint as value, as_of as "asOf",
        extract(epoch from clock_timestamp() - accepted_at)::float8 as "ageSeconds"
      from rates where pair = $1 and accepted_at is not null order by accepted_at desc limit 1`,
    values: [pair],
  })
  return rate
}

/**
 * The accepted rates to compare a new reading with: those of the last 24 hours, or since an operator accepted one. The first
 * of them counts as in force since the beginning of that time, so that a rate moves the median only after 12 hours, also
 * when the service has just started.
 */
export async function readRateWindow(db: Knex): Promise<RateWindow> {
  const [row] = await query<RateWindow>(db, {
    name: 'rates.window',
    text: /* sql */ `
      with recent as materialized (
        select id, value, accepted_at, accepted_by <> 'feed' as by_operator from rates
        where pair = 'USD/NGN' and accepted_at > clock_timestamp() - $1 * interval '1 hour'
      ), restarted as (
        select * from recent
        where accepted_at >= coalesce((select max(accepted_at) from recent where by_operator), '-infinity')
      ), spans as (
        select value, coalesce(lead(accepted_at) over later, clock_timestamp())
          - case when row_number() over later = 1 then clock_timestamp() - $1 * interval '1 hour' else accepted_at end as span,
          coalesce(lead(accepted_at) over later > clock_timestamp() - $2 * interval '1 minute', true) as lately
        from restarted window later as (order by accepted_at, id)
      ), summed as (
        select value, sum(span) over (order by value) as below, sum(span) over () as total from spans
      )
      select
        (select (min(value) * 100000000)::bigint from spans where lately) as lowest,
        (select (max(value) * 100000000)::bigint from spans where lately) as highest,
        (select (value * 100000000)::bigint from summed where below * 2 >= total order by value limit 1) as median,
        (select (value * 100000000)::bigint from restarted where by_operator order by id desc limit 1) as vouched`,
    values: [rateWindowHours, rateJumpMinutes],
  })
  if (row === undefined) return emptyWindow
  return {
    lowest: row.lowest ?? undefined,
    highest: row.highest ?? undefined,
    median: row.median ?? undefined,
    vouched: row.vouched ?? undefined,
  }
}

/** Seconds since a time, by the database's clock. */
export async function secondsSince(db: Knex, moment: Date): Promise<number> {
  const [row] = await query<{ seconds: number }>(db, {
    name: 'rates.age',
    text: 'select extract(epoch from clock_timestamp() - $1::timestamptz)::float8 as seconds',
    values: [moment],
  })
  return row?.seconds ?? 0
}

/** Stores a rate that may be used. `by`: the feed, or the operator who accepts it. */
export async function recordAcceptedRate(
  db: Knex,
  { value, asOf }: Pick<AcceptedRate, 'value' | 'asOf'>,
  by: string,
): Promise<AcceptedRate> {
  const accepted = { pair, value, source: 'feed', asOf, acceptedAt: databaseTime, acceptedBy: by } as const
  const { id } = await Rate.query(db).insert(accepted)
  return { id, value, asOf }
}

/** Stores a rate that does not fit, for an operator to review. Repeated readings of the same value are stored once. */
export async function recordRefusedRate(
  db: Knex,
  { value, asOf }: Pick<AcceptedRate, 'value' | 'asOf'>,
): Promise<void> {
  if ((await findLastRefusedRate(db))?.value === value) return
  await Rate.query(db).insert({ pair, value, source: 'feed', asOf })
}

/** The newest refused rate since the last accepted one, if any. */
export async function findLastRefusedRate(db: Knex): Promise<AcceptedRate | undefined> {
  return (await listRefusedRates(db, 1))[0]
}

/** The refused rates since the last accepted one, newest first. */
export async function listRefusedRates(db: Knex, limit: number): Promise<AcceptedRate[]> {
  return Rate.query(db)
    .where({ pair })
    .whereNull('accepted_at')
    .whereNotExists(
      Rate.query().alias('later').where({ pair }).whereColumn('later.accepted_at', '>', 'rates.created_at'),
    )
    .orderBy('created_at', 'desc')
    .limit(limit)
}

/** Rates that no intent and no withdrawal refers to are kept this long. */
const keptDays = 30
/** Rows of one run. */
const mostDeleted = 1000

/** Deletes old exchange rates that no intent and no withdrawal refers to. */
export async function deleteOldRates({ db }: Pick<Services, 'db'>): Promise<void> {
  await write(db, {
    name: 'rates.delete-old',
    text: /* sql */ `
      delete from rates where id in (
        select id from rates r where created_at < now() - $1 * interval '1 day'
          and not exists (select from fiat_intents where rate_id = r.id or settle_rate_id = r.id)
          and not exists (select from withdrawals where rate_id = r.id)
        order by id limit $2 for update skip locked)`,
    values: [keptDays, mostDeleted],
  })
}
