import type { Knex } from 'knex'
import { displayText } from '../kernel/money.js'
import { query } from '../platform/database/database.js'
import { rateDecimals } from '../ports/exchange-rates.js'
import { jumpMemoryHours } from './exchange-rate-guard.js'

/** An accepted rate: a row that intents and withdrawals refer to. */
export interface AcceptedRate {
  readonly id: bigint
  /** Naira per dollar, in units of 10^-8. */
  readonly value: bigint
  readonly asOf: Date
}

/** The newest accepted rate and the time since its acceptance. */
export interface LastAcceptedRate extends AcceptedRate {
  readonly ageSeconds: number
}

const columns = /* sql */ `id, (value * 100000000)::bigint as value, as_of as "asOf"`

export async function findLastAcceptedRate(db: Knex): Promise<LastAcceptedRate | undefined> {
  const [row] = await query<LastAcceptedRate>(db, {
    name: 'rates.last',
    text: /* sql */ `
      select ${columns}, extract(epoch from clock_timestamp() - accepted_at)::float8 as "ageSeconds"
      from rates where pair = 'USD/NGN' and accepted_at is not null order by accepted_at desc limit 1`,
    values: [],
  })
  return row
}

/** Whether the last accepted rate is recent enough to compare a new reading with it. */
export function isRecentEnoughToCompare({ ageSeconds }: LastAcceptedRate): boolean {
  return ageSeconds < jumpMemoryHours * 3600
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
  const [row] = await query<AcceptedRate>(db, {
    name: 'rates.accept',
    text: /* sql */ `
      insert into rates (pair, value, source, as_of, accepted_at, accepted_by)
      values ('USD/NGN', $1, 'feed', $2, clock_timestamp(), $3) returning ${columns}`,
    values: [displayText(value, rateDecimals), asOf, by],
  })
  return row as AcceptedRate
}

/** Stores a rate that jumped, for an operator to review. Repeated readings of the same value are stored once. */
export async function recordRefusedRate(
  db: Knex,
  { value, asOf }: Pick<AcceptedRate, 'value' | 'asOf'>,
): Promise<void> {
  if ((await findLastRefusedRate(db))?.value === value) return
  await query(db, {
    name: 'rates.refuse',
    text: `insert into rates (pair, value, source, as_of) values ('USD/NGN', $1, 'feed', $2)`,
    values: [displayText(value, rateDecimals), asOf],
  })
}

/** The newest refused rate since the last accepted one, if any. */
export async function findLastRefusedRate(db: Knex): Promise<AcceptedRate | undefined> {
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
