import type { Knex } from 'knex'
import { waitsForPerson } from '../fiat/refunds/refund.js'
import { sqlList } from '../kernel/state-machine.js'
import { notFrozen, waitsForBreaker } from '../outgoing/guards.js'
import { sendableStates } from '../outgoing/lifecycle.js'
import { query } from '../platform/database/database.js'
import { databaseIsKnown } from '../platform/database/restore-guard.js'
import { waitsForDispute } from '../withdrawals/work-queue.js'

/** A kind of case that no worker can decide, and how many of it are open. */
export interface OpenCase {
  /** The label of the metrics. */
  readonly id: string
  readonly what: string
  readonly count: number
  readonly oldestSeconds: number | null
  /** The command that lists them. */
  readonly command: string
}

/** A kind of case as SQL. */
interface CaseQuery {
  readonly id: string
  readonly what: string
  /** The table and the condition of its rows. */
  readonly rows: string
  /** The column that says since when a row is open. */
  readonly since: string
  readonly command: string
}

const caseQueries: readonly CaseQuery[] = [
  {
    id: 'disputes',
    what: 'disputed payments that wait for our answer',
    rows: `disputes where state = 'open'`,
    since: 'opened_at',
    command: 'disputes',
  },
  {
    id: 'manual_review',
    what: 'withdrawals that may or may not have been sent',
    rows: `withdrawals where status = 'pending' and send_state = 'manual_review'`,
    since: 'created_at',
    command: 'payouts list --state manual_review',
  },
  {
    id: 'identity_hold',
    what: 'withdrawals that wait for an identity',
    rows: `withdrawals where status = 'pending' and send_state = 'identity_hold'`,
    since: 'created_at',
    command: 'payouts list --state identity_hold',
  },
  {
    id: 'confirmation_hold',
    what: "withdrawals that wait for their creators' confirmation",
    rows: `withdrawals where status = 'pending' and send_state = 'confirmation_hold'`,
    since: 'created_at',
    command: 'payouts list --state confirmation_hold',
  },
  {
    id: 'restored',
    what: 'the database was restored: nothing is sent until the providers were compared',
    rows: `database_epoch where not ${databaseIsKnown}`,
    since: 'seen_at',
    command: 'restore-check',
  },
  {
    id: 'payouts_paused',
    what: 'payouts are paused',
    rows: `switches where name = 'payouts' and stopped_at is not null`,
    since: 'stopped_at',
    command: 'payouts resume',
  },
  {
    id: 'payout_limit',
    what: 'withdrawals that wait for a payout limit or the pause',
    rows: `withdrawals w where ${waitsForBreaker('w')}`,
    since: 'created_at',
    command: 'payouts list --state breaker',
  },
  {
    id: 'dispute_hold',
    what: "withdrawals that wait for their creators' disputes or debts",
    rows: `withdrawals w where ${waitsForDispute('w')}`,
    since: 'created_at',
    command: 'payouts list --state dispute',
  },
  {
    id: 'frozen_outgoing',
    what: 'withdrawals and refunds of frozen accounts that are not sent',
    rows: `(
      select user_id, status, send_state, created_at from withdrawals
      union all select user_id, status, send_state, created_at from refunds) o
      where status = 'pending' and send_state in (${sqlList(sendableStates)}) and not ${notFrozen}`,
    since: 'created_at',
    command: 'outgoing list --state pending',
  },
  {
    id: 'reviews',
    what: 'open reviews of withdrawals',
    rows: 'review_items where resolved_at is null',
    since: 'created_at',
    command: 'payouts list',
  },
  {
    id: 'sweeps',
    what: 'sweeps that may or may not have landed',
    rows: 'sweeps where expired_at is not null and ended_at is null',
    since: 'expired_at',
    command: 'sweep',
  },
  {
    id: 'take_outs',
    what: 'take-outs that may or may not have landed',
    rows: 'wallet_transfers where undecided_at is not null and ended_at is null',
    since: 'undecided_at',
    command: 'take-outs',
  },
  {
    id: 'suspense',
    what: 'naira payments in suspense',
    rows: 'suspense_items where resolved_at is null',
    since: 'created_at',
    command: 'suspense',
  },
  {
    id: 'card_money_late',
    what: 'card money that is due and not available',
    rows: `card_reserves where due_at is not null and available_at < clock_timestamp() - interval '10 minutes'`,
    since: 'available_at',
    command: 'work list --kind settlement',
  },
  {
    id: 'refunds',
    what: 'refunds that wait for an operator',
    rows: `refunds where ${waitsForPerson}`,
    since: 'created_at',
    command: 'refunds',
  },
  {
    id: 'receivables',
    what: 'payments that went back and that creators still owe',
    rows: 'receivables where owed and closed_at is null and covered_micro < amount_micro',
    since: 'created_at',
    command: 'receivables',
  },
  {
    id: 'collection_differences',
    what: "differences from the provider's lists of payments, refunds and disputes, seen in the last two days",
    rows: `collection_differences where last_seen_at > clock_timestamp() - interval '2 days'`,
    since: 'found_at',
    command: 'disputes --compare',
  },
  {
    id: 'closed_accounts',
    what: 'closed accounts that hold money',
    rows: `users u where closed_at is not null
      and exists (select from ledger_accounts where user_id = u.id and balance > 0)`,
    since: 'closed_at',
    command: 'close-account',
  },
  {
    id: 'payout_differences',
    what: "differences from the provider's list of transfers, seen in the last two days",
    rows: `reconciliation_differences where last_seen_at > clock_timestamp() - interval '2 days'`,
    since: 'found_at',
    command: 'payouts compare',
  },
  {
    id: 'frozen_accounts',
    what: 'frozen accounts',
    rows: 'users where frozen_at is not null',
    since: 'frozen_at',
    command: 'unfreeze',
  },
  {
    id: 'rates_held_back',
    what: 'exchange rates held back since the last accepted one',
    rows: `rates where accepted_at is null and created_at > coalesce((select max(accepted_at) from rates), 'epoch')`,
    since: 'created_at',
    command: 'accept-rate',
  },
  {
    id: 'partitions',
    what: 'tables without a partition for next month, or with rows outside of their months',
    rows: 'partition_faults()',
    since: 'since',
    command: 'archive list',
  },
]

export const caseIds = caseQueries.map(({ id }) => id)

/** Every kind of case, also those with no open case. */
export async function listOpenCases(db: Knex): Promise<OpenCase[]> {
  const each = caseQueries.map(
    ({ rows, since }, index) => /* sql */ `
      select ${index}::int as index, count(*)::int as count,
        extract(epoch from clock_timestamp() - min(${since}))::float8 as "oldestSeconds" from ${rows}`,
  )
  const counted = await query<{ index: number; count: number; oldestSeconds: number | null }>(db, {
    name: 'ops.open-cases',
    text: each.join(' union all '),
  })
  return caseQueries.map(({ id, what, command }, index) => {
    const { count = 0, oldestSeconds = null } = counted.find((row) => row.index === index) ?? {}
    return { id, what, count, oldestSeconds, command: opsCommand(command) }
  })
}

/** An operators' command, ready to copy. */
export function opsCommand(args: string): string {
  return `npm run ops -- ${args}`
}
