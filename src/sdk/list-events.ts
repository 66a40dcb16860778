import type { Knex } from 'knex'
import { displayNumber } from '../kernel/money.js'
import { query } from '../platform/database/database.js'
import { type ConfirmedTip, confirmedColumns, receivedOf, symbolOf } from '../tips/read/present.js'
import type { EventsInput, SdkEvent } from './schemas.js'

/** Contract: at most 50, newest first. */
const most = 50

/**
 * The newest confirmed tips of a creator between two moments, both excluded. A creator's confirmations have strictly
 * increasing stamps in the order of their commits, so asking after the last stamp seen never skips one.
 */
export async function listEvents(
  db: Knex,
  userId: string,
  { since, before }: Pick<EventsInput, 'since' | 'before'>,
): Promise<SdkEvent[]> {
  const tips = await query<ConfirmedTip>(db, {
    name: 'sdk.events',
    text: /* sql */ `
      select ${confirmedColumns}
      from parties r
      cross join lateral (
        select * from tips where recipient_party = r.id and status = 'confirmed'
          and confirmed_at > coalesce($2::timestamptz, '-infinity')
          and confirmed_at < coalesce($3::timestamptz, 'infinity')
        order by confirmed_at desc limit ${most}) t
      left join parties s on s.id = t.sender_party
      where r.user_id = $1
      order by t.confirmed_at desc`,
    values: [userId, since ?? null, before ?? null],
  })
  return tips.map(presentEvent)
}

/** A tip as /sdk/events shows it (contract: SDK tip event). */
function presentEvent(tip: ConfirmedTip): SdkEvent {
  const tokenSymbol = symbolOf(tip.mint)
  return {
    eventId: tip.id,
    type: 'tip_completed',
    amountUsdc: tokenSymbol === 'USDC' ? displayNumber(BigInt(tip.displayRaw), tip.decimals) : 0,
    amountRaw: Number(tip.displayRaw),
    receivedAmount: receivedOf(tip),
    tokenSymbol,
    sender: tip.sender,
    timestamp: tip.confirmedAt.toISOString(),
    txSignature: tip.id,
  }
}
