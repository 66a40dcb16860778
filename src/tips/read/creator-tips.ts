import { csvText } from '../../http/csv.js'
import { pageOf, timePosition, timePositionFrom } from '../../http/paging.js'
import { query } from '../../platform/database/database.js'
import type { Services } from '../../services.js'
import type { TipListItem } from '../schemas.js'
import type { CreatorTipsInput } from './creator-schemas.js'
import { fiatSymbol, type ListedTip, listColumns, presentListItem } from './present.js'

interface CreatorTipsPage {
  readonly tips: TipListItem[]
  /** The position of the last tip, where the next page starts. Undefined on the last page. */
  readonly next: string | undefined
}

/**
 * The tips a creator received that match the filters, newest first. The query reads along the index of listed tips, so the
 * cost of a page without filters does not depend on the length of the history. It reads one row more than the limit, to
 * find out whether there is a next page. The search uses `strpos`, so no character of it is a pattern.
 */
export async function listCreatorTips(
  { db }: Pick<Services, 'db'>,
  userId: string,
  { cursor, limit, token, status, from, to, q }: CreatorTipsInput,
): Promise<CreatorTipsPage> {
  const [beforeMs, beforeId] = timePositionFrom(cursor, '')
  const rows = await query<ListedTip>(db, {
    name: 'tips.list-received',
    text: /* sql */ `
      select ${listColumns}, p.usd
      from tips t join parties r on r.id = t.recipient_party left join parties s on s.id = t.sender_party
      left join prices p on p.mint = t.mint
      where r.user_id = $1 and t.listed and (t.status = 'confirmed' or t.kind = 'fiat')
        and (t.recorded_at, t.id) < ('epoch'::timestamptz + $2::float8 * interval '1 ms', $3)
        and ($4::text is null or t.mint = $4 or ($4 = '${fiatSymbol}' and t.kind = 'fiat'))
        and ($5::tip_status is null or t.status = $5)
        and ($6::timestamptz is null or t.recorded_at >= $6)
        and ($7::timestamptz is null or t.recorded_at < $7)
        and ($8::text is null or strpos(lower(t.message), lower($8)) > 0
             or strpos(lower(coalesce(s.wallet, t.sender)), lower($8)) > 0)
      order by t.recorded_at desc, t.id desc limit $9`,
    values: [
      userId,
      beforeMs,
      beforeId,
      token ?? null,
      status ?? null,
      from ?? null,
      to ?? null,
      q || null,
      limit + 1,
    ],
  })
  const { page, last } = pageOf(rows, limit)
  return { tips: page.map(presentListItem), next: last && timePosition(last.recordedAt, last.id) }
}

const columns = [
  'timestamp',
  'signature',
  'sender',
  'amount',
  'receivedAmount',
  'tokenSymbol',
  'valueUsd',
  'status',
  'message',
] as const satisfies readonly (keyof TipListItem)[]

export function creatorTipsCsv(tips: readonly TipListItem[]): string {
  return csvText(
    columns,
    tips.map((tip) => columns.map((column) => tip[column])),
  )
}
