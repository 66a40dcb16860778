import type { Knex } from 'knex'
import { query } from '../platform/database/database.js'

/** What no worker can decide. */
export interface OpenCase {
  readonly what: string
  readonly count: number
  readonly oldestSeconds: number | null
  /** What shows it. */
  readonly command: string
}

/** Something a person must look at: rows of a table with the moment since when, and the command that lists them. */
interface Question {
  readonly what: string
  readonly rows: string
  readonly since: string
  readonly command: string
}

const questions: readonly Question[] = [
  {
    what: 'withdrawals of which nobody knows whether they left',
    rows: `withdrawals where status = 'pending' and send_state = 'manual_review'`,
    since: 'created_at',
    command: 'payouts list --state manual_review',
  },
  {
    what: 'withdrawals that wait for an identity',
    rows: `withdrawals where status = 'pending' and send_state = 'identity_hold'`,
    since: 'created_at',
    command: 'payouts list --state identity_hold',
  },
  {
    what: 'reviews that are open',
    rows: 'review_items where resolved_at is null',
    since: 'created_at',
    command: 'payouts list',
  },
  {
    what: 'payments in suspense',
    rows: 'suspense_items where resolved_at is null',
    since: 'created_at',
    command: 'suspense',
  },
  {
    what: "differences from the provider's list, seen in the last two days",
    rows: `reconciliation_differences where last_seen_at > clock_timestamp() - interval '2 days'`,
    since: 'found_at',
    command: 'payouts compare',
  },
  {
    what: 'exchange rates held back since the last accepted one',
    rows: `rates where accepted_at is null and created_at > coalesce((select max(accepted_at) from rates), 'epoch')`,
    since: 'created_at',
    command: 'accept-rate',
  },
]

/** Everything that waits for a person, those with nothing waiting too. */
export async function listOpenCases(db: Knex): Promise<OpenCase[]> {
  const each = questions.map(
    ({ rows, since }, index) => /* sql */ `
      select ${index}::int as place, count(*)::int as count,
        extract(epoch from clock_timestamp() - min(${since}))::float8 as "oldestSeconds" from ${rows}`,
  )
  const counted = await query<{ place: number; count: number; oldestSeconds: number | null }>(db, {
    name: 'ops.waiting',
    text: each.join(' union all '),
    values: [],
  })
  return questions.map(({ what, command }, index) => {
    const { count = 0, oldestSeconds = null } = counted.find(({ place }) => place === index) ?? {}
    return { what, count, oldestSeconds, command: opsCommand(command) }
  })
}

/** A command as an operator types it. */
export function opsCommand(words: string): string {
  return `npm run ops -- ${words}`
}
