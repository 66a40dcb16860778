import type { Knex } from 'knex'
import { query } from '../../platform/database/database.js'
import { confirmedColumns, type PricedTip } from './present.js'

/** Events of one wallet read at once; a reader that is further behind reads again. */
export const pageSize = 100

/**
 * What was confirmed for each wallet after its cursor (epoch ms), oldest first, at most `feedPage` each: one
 * statement for all wallets of a process.
 */
export async function confirmedAfter(
  db: Knex,
  cursors: ReadonlyMap<string, number>,
): Promise<Map<string, PricedTip[]>> {
  const rows = await query<PricedTip>(db, {
    name: 'tips.feed',
    text: /* sql */ `
      select ${confirmedColumns}, p.usd
      from unnest($1::text[], $2::float8[]) as c(wallet, after_ms)
      join parties r on r.wallet = c.wallet
      cross join lateral (
        select * from tips where recipient_party = r.id and status = 'confirmed'
          and confirmed_at > 'epoch'::timestamptz + c.after_ms * interval '1 ms'
        order by confirmed_at limit ${pageSize}) t
      left join parties s on s.id = t.sender_party
      left join prices p on p.mint = t.mint
      order by t.confirmed_at`,
    values: [[...cursors.keys()], [...cursors.values()]],
  })
  const byWallet = new Map<string, PricedTip[]>()
  for (const row of rows) byWallet.set(row.recipient, [...(byWallet.get(row.recipient) ?? []), row])
  return byWallet
}

/** Wallets with a confirmation in the last `ms`, and its stamp: from the small cursor table, whatever the number of readers. */
export async function walletsConfirmedWithin(
  db: Knex,
  ms: number,
): Promise<{ wallet: string; lastAt: Date }[]> {
  return query(db, {
    name: 'tips.moved',
    text: `select p.wallet, c.last_at as "lastAt" from creator_cursors c join parties p on p.id = c.party_id
           where c.last_at > now() - $1::float8 * interval '1 ms' and p.wallet is not null`,
    values: [ms],
  })
}

/** The stamp of a wallet's newest confirmation in epoch ms, 0 before the first: where a new reader starts. */
export async function lastConfirmedAt(db: Knex, wallet: string): Promise<number> {
  const [row] = await query<{ lastAt: Date }>(db, {
    name: 'tips.newest',
    text: `select c.last_at as "lastAt" from parties p join creator_cursors c on c.party_id = p.id where p.wallet = $1`,
    values: [wallet],
  })
  return row?.lastAt.getTime() ?? 0
}
