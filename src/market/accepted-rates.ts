import type { Knex } from 'knex'
import { displayText } from '../kernel/money.js'
import { query } from '../platform/database/database.js'
import { rateDecimals } from '../ports/exchange-rates.js'
import { memoryHours } from './exchange-rate-guard.js'

/** A rate that was accepted: a row that intents refer to. */
export interface AcceptedRate {
  readonly id: bigint
  /** Naira for a dollar, units of 10^-8. */
  readonly value: bigint
  readonly asOf: Date
}

/** The newest accepted rate and its age; undefined before the first. */
export interface LastAccepted extends AcceptedRate {
  readonly ageSeconds: number
}

const columns = /* sql */ `id, (value * 100000000)::bigint as value, as_of as "asOf"`

export async function lastAccepted(db: Knex): Promise<LastAccepted | undefined> {
  const [row] = await query<LastAccepted>(db, {
    name: 'rates.last',
    text: /* sql */ `
      select ${columns}, extract(epoch from clock_timestamp() - accepted_at)::float8 as "ageSeconds"
      from rates where pair = 'USD/NGN' and accepted_at is not null order by accepted_at desc limit 1`,
    values: [],
  })
  return row
}

/** Whether a last rate is young enough that a jump from it means something. */
export function isRemembered({ ageSeconds }: LastAccepted): boolean {
  return ageSeconds < memoryHours * 3600
}

/** Seconds between a moment and the database's clock. */
export async function ageOf(db: Knex, moment: Date): Promise<number> {
  const [row] = await query<{ seconds: number }>(db, {
    name: 'rates.age',
    text: 'select extract(epoch from clock_timestamp() - $1::timestamptz)::float8 as seconds',
    values: [moment],
  })
  return row?.seconds ?? 0
}

/** Keeps a rate that may be used. `by`: the feed, or the operator who vouches for it. */
export async function acceptRate(
  db: Knex,
  { value, asOf }: Pick<AcceptedRate, 'value' | 'asOf'>,
  by: string,
): Promise<AcceptedRate> {
  const [row] = await query<AcceptedRate>(db, {
    name: 'rates.accept',
    text: /* sql */ `
      insert into rates (pair, value, source, as_of, accepted_at, accepted_by)
      values ('USD/NGN', $1, 'feed', $2, clock_timestamp(), $3) returning ${columns}`,
    values: [displayText(value, rateDecimals), asOf, by],
  })
  return row as AcceptedRate
}

/** Keeps a rate that jumped, for the operator to look at; the same one once, until a rate is accepted again. */
export async function refuseRate(
  db: Knex,
  { value, asOf }: Pick<AcceptedRate, 'value' | 'asOf'>,
): Promise<void> {
  if ((await lastRefused(db))?.value === value) return
  await query(db, {
    name: 'rates.refuse',
    text: `insert into rates (pair, value, source, as_of) values ('USD/NGN', $1, 'feed', $2)`,
    values: [displayText(value, rateDecimals), asOf],
  })
}

/** The newest rate that jumped since the last accepted one, if any. */
export async function lastRefused(db: Knex): Promise<AcceptedRate | undefined> {
  const [row] = await query<AcceptedRate>(db, {
    name: 'rates.refused',
    text: /* sql */ `
      select ${columns} from rates r
      where pair = 'USD/NGN' and accepted_at is null and not exists (
        select from rates a where a.pair = r.pair and a.accepted_at > r.created_at)
      order by created_at desc limit 1`,
    values: [],
  })
  return row
}
