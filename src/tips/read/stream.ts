import type { Knex } from 'knex'
import { partyWalletSql } from '../../creators/find-creator.js'
import type { StreamStart } from '../../events/stream.js'
import { type Position, pagesOf, type StreamSource, streamPageSize } from '../../events/stream-hub.js'
import { eventText } from '../../http/sse.js'
import { query } from '../../platform/database/database.js'
import { confirmedColumns, type PricedTip, presentTipEvent, tipChannel } from './present.js'

/**
 * The confirmed tips of a wallet as a stream (API: GET /chain/tips/stream). The cursor is the stamp of a confirmation in epoch ms: the
 * contract's readers have it from `timestamp`. It and the number in the event log are given under the same lock, so both have one order.
 */
export const tipStream: StreamSource = {
  channel: tipChannel,
  async readAfter(db, reads) {
    const rows = await query<PricedTip & { readonly place: number }>(db, {
      name: 'tips.confirmed-after',
      text: /* sql */ `
        select ${confirmedColumns}, p.usd, c.place::int as place
        from unnest($1::text[], $2::float8[]) with ordinality as c(wallet, after_ms, place)
        join parties r on r.wallet = c.wallet
        cross join lateral (
          select * from tips where recipient_party = r.id and status = 'confirmed'
            and confirmed_at > 'epoch'::timestamptz + c.after_ms * interval '1 ms'
          order by confirmed_at limit ${streamPageSize}) t
        left join parties s on s.id = t.sender_party
        left join prices p on p.mint = t.mint
        order by t.confirmed_at`,
      values: [reads.map(({ key }) => key), reads.map(({ cursor }) => cursor)],
    })
    return pagesOf(reads, rows, (tip) => {
      const cursor = tip.confirmedAt.getTime()
      return { cursor, type: 'tip', text: eventText(presentTipEvent(tip), cursor) }
    })
  },
  movedWithin(db, ms) {
    return query<Position>(db, {
      name: 'tips.recently-confirmed',
      text: /* sql */ `
        select p.wallet as key, (extract(epoch from c.last_at) * 1000)::float8 as cursor
        from creator_cursors c join parties p on p.id = c.party_id
        where c.last_at > now() - $1::float8 * interval '1 ms' and p.wallet is not null`,
      values: [ms],
    })
  },
}

/**
 * Where the stream of a wallet begins: of a creator's payout wallet, with the tips of the custody wallet; at the stamp of its newest
 * confirmed tip, 0 when it has none.
 */
export async function findStart(db: Knex, wallet: string): Promise<StreamStart> {
  const [row] = await query<{ wallet: string; lastAt: Date | null }>(db, {
    name: 'tips.newest',
    text: /* sql */ `
      select s.wallet, c.last_at as "lastAt"
      from (select ${partyWalletSql('$1::text')} as wallet) s
        left join parties p on p.wallet = s.wallet left join creator_cursors c on c.party_id = p.id`,
    values: [wallet],
  })
  return {
    key: row?.wallet ?? wallet,
    newest: row?.lastAt?.getTime() ?? 0,
    connected: { status: 'connected', wallet },
  }
}
