import { query } from '../platform/database/database.js'
import type { Services } from '../services.js'
import { type ClosedAccountKind, type Currency, closedAccounts, platformAccount } from './accounts.js'
import { booksStatementMs } from './invariants.js'
import { postTransfer } from './transfers.js'

interface OldBalance {
  readonly kind: ClosedAccountKind
  readonly currency: Currency
  /** Base units as decimal text: a sum may be larger than a bigint column. */
  readonly units: string
  readonly entries: bigint
}

/**
 * Moves what is in the platform accounts of earlier releases to those that took their place. Entries are never changed, so this
 * is a transfer of its own. Repeated, because a process of the release before may still post there, and a reserve of that time
 * gives back to the account it came from.
 */
export async function closeOldAccounts({ transact }: Pick<Services, 'transact'>): Promise<void> {
  await transact(async ({ trx }) => {
    // The sums are read under the lock, so no other process moves the same balance.
    await trx.raw(`select pg_advisory_xact_lock(hashtextextended('close-old-accounts', 0))`)
    await trx.raw(`set local statement_timeout = ${booksStatementMs}`)
    const balances = await query<OldBalance>(trx, {
      name: 'ledger.old-balances',
      text: /* sql */ `
        select a.kind, a.currency, sum(e.amount)::text as units, count(*) as entries
        from ledger_accounts a join ledger_entries e on e.account_id = a.id
        where a.user_id is null and a.kind = any($1::text[])
        group by a.kind, a.currency having sum(e.amount) <> 0 order by a.kind, a.currency`,
      values: [Object.keys(closedAccounts)],
    })
    for (const { kind, currency, units, entries } of balances) {
      const key = `opening:${kind}:${currency}:${entries}`
      await postTransfer(trx, {
        idem: key,
        kind: 'credit',
        ref: key,
        entries: [
          { account: { userId: null, kind, currency }, amount: -BigInt(units) },
          { account: platformAccount(closedAccounts[kind], currency), amount: BigInt(units) },
        ],
      })
    }
  })
}
