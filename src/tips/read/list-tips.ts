import { findParty } from '../../creators/resolve-creator.js'
import { query } from '../../platform/database/database.js'
import type { Services } from '../../services.js'
import type { TipListItem } from '../schemas.js'
import { type ListedTip, listColumns, presentListItem } from './present.js'

/** API: GET /chain/tips. */
const maxTips = 50

/**
 * The newest tips an address received or sent. Two scans on partial indexes of listed tips each stop at 50 rows
 * (docs/decisions/0024): one scan with an OR would read every tip of a busy creator. Only the first scan returns a tip to
 * oneself.
 */
export async function listTips(
  services: Pick<Services, 'db' | 'names'>,
  address: string,
): Promise<TipListItem[]> {
  const party = await findParty(services, address)
  if (party === undefined) return []
  const rows = await query<ListedTip>(services.db, {
    name: 'tips.list',
    text: /* sql */ `
      with party as (select id from parties where wallet = $1 or user_id = $2::uuid),
      newest as (
        (select * from tips where recipient_party = (select id from party) and listed and (status = 'confirmed' or kind = 'fiat')
         order by recorded_at desc, id desc limit ${maxTips})
        union all
        (select * from tips where sender_party = (select id from party) and listed and (status = 'confirmed' or kind = 'fiat')
           and recipient_party <> (select id from party)
         order by recorded_at desc, id desc limit ${maxTips}))
      select ${listColumns}, p.usd
      from newest t join parties r on r.id = t.recipient_party left join parties s on s.id = t.sender_party
      left join prices p on p.mint = t.mint
      order by t.recorded_at desc, t.id desc limit ${maxTips}`,
    values: 'userId' in party ? [null, party.userId] : [party.wallet, null],
  })
  return rows.map(presentListItem)
}
