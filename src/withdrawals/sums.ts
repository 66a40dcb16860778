import type { Knex } from 'knex'
import { sqlList } from '../kernel/state-machine.js'
import { openStatuses, reconciledStates } from '../outgoing/lifecycle.js'
import { query } from '../platform/database/database.js'

/** Naira of the withdrawals that have not ended, in kobo. */
export interface OpenPayouts {
  /** A request was or may have been sent, so the provider may have taken them already. */
  readonly underWay: bigint
  readonly underWayCount: bigint
  /** The provider has not accepted them: the float must still pay them. Those of an unknown outcome are in both sums. */
  readonly waiting: bigint
}

const acceptedOpen = openStatuses.filter((status) => status !== 'pending')

/** Every open withdrawal that the provider has is due for a poll, so both halves are found by an index. */
export async function sumOpenPayouts(db: Knex): Promise<OpenPayouts> {
  const [row] = await query<Record<keyof OpenPayouts, string>>(db, {
    name: 'payouts.sum-open',
    text: /* sql */ `
      select coalesce(sum(net_kobo) filter (where possible), 0)::text as "underWay",
        count(*) filter (where possible)::text as "underWayCount",
        coalesce(sum(net_kobo) filter (where not accepted), 0)::text as waiting
      from (
        select net_kobo, send_state in (${sqlList(reconciledStates)}) or sends > 0 as possible, false as accepted
        from withdrawals where status = 'pending'
        union all
        select net_kobo, true, true from withdrawals
        where status in (${sqlList(acceptedOpen)}) and due_at is not null) as open`,
    values: [],
  })
  return {
    underWay: BigInt(row?.underWay ?? 0),
    underWayCount: BigInt(row?.underWayCount ?? 0),
    waiting: BigInt(row?.waiting ?? 0),
  }
}

/** How many of the last days with withdrawals count, and how far they are looked for. */
const days = 30
const lookBackDays = 365

/**
 * The naira that withdrawals took on a day, in kobo: the 95th percentile of the last 30 days that had any, without today. A failed
 * one counts too: its creator asks again. Undefined: there was none in a year.
 */
export async function dailyPayouts(db: Knex): Promise<bigint | undefined> {
  const [row] = await query<{ kobo: string | null }>(db, {
    name: 'payouts.daily',
    text: /* sql */ `
      select percentile_disc(0.95) within group (order by kobo)::text as kobo from (
        select sum(net_kobo) as kobo from withdrawals
        where created_at >= date_trunc('day', clock_timestamp(), 'UTC') - interval '${lookBackDays} days'
          and created_at < date_trunc('day', clock_timestamp(), 'UTC')
        group by date_trunc('day', created_at, 'UTC') order by date_trunc('day', created_at, 'UTC') desc
        limit ${days}) as recent`,
    values: [],
  })
  return row?.kobo == null ? undefined : BigInt(row.kobo)
}
