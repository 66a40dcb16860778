import type { Knex } from 'knex'
import { presentOwnReference } from '../intents/own-reference.js'
import { displayNumber } from '../kernel/money.js'
import { query } from '../platform/database/database.js'
import {
  type ConfirmedTip,
  confirmedColumns,
  presentSenderName,
  receivedOf,
  symbolOf,
} from '../tips/read/present.js'
import type { EventsAnswer, EventsInput, SdkEvent } from './schemas.js'

/** API: GET /sdk/events answers at most 50 events, newest first. */
const pageSize = 50

/**
 * Lists a creator's newest confirmed tips between two moments, both excluded. The `confirmed_at` of a creator's tips
 * increases strictly in commit order, so a reader that passes the last timestamp as `since` misses none.
 */
export async function listEvents(
  db: Knex,
  userId: string,
  { since, before }: Pick<EventsInput, 'since' | 'before'>,
): Promise<EventsAnswer> {
  const tips = await query<ConfirmedTip>(db, {
    name: 'sdk.events',
    text: /* sql */ `
      select ${confirmedColumns}
      from parties r
      cross join lateral (
        select * from tips where recipient_party = r.id and status = 'confirmed'
          and confirmed_at > coalesce($2::timestamptz, '-infinity')
          and confirmed_at < coalesce($3::timestamptz, 'infinity')
        order by confirmed_at desc limit ${pageSize + 1}) t
      left join parties s on s.id = t.sender_party
      where r.user_id = $1
      order by t.confirmed_at desc`,
    values: [userId, since ?? null, before ?? null],
  })
  return { events: tips.slice(0, pageSize).map(presentEvent), hasMore: tips.length > pageSize }
}

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
    ...presentSenderName(tip),
    timestamp: tip.confirmedAt.toISOString(),
    txSignature: tip.id,
    ...presentOwnReference(tip),
  }
}
