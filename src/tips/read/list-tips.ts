import { findParty } from '../../creators/resolve-creator.js'
import { query } from '../../platform/database/database.js'
import type { Services } from '../../services.js'
import type { TipListItem } from '../schemas.js'
import { type ListedTip, listColumns, presentListItem } from './present.js'

/** Contract: at most 50, newest first. */
const most = 50

/**
 * The newest tips an address received or sent. Two scans that each stop at 50 rows, on partial indexes over what
 * may be listed: an OR would read every tip of a busy creator. A tip to oneself is found by the first scan only.
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
      with who as (select id from parties where wallet = $1 or user_id = $2::uuid),
      newest as (
        (select * from tips where recipient_party = (select id from who) and listed and (status = 'confirmed' or kind = 'fiat')
         order by recorded_at desc, id desc limit ${most})
        union all
        (select * from tips where sender_party = (select id from who) and listed and (status = 'confirmed' or kind = 'fiat')
           and recipient_party <> (select id from who)
         order by recorded_at desc, id desc limit ${most}))
      select ${listColumns}, p.usd
      from newest t join parties r on r.id = t.recipient_party left join parties s on s.id = t.sender_party
      left join prices p on p.mint = t.mint
      order by t.recorded_at desc, t.id desc limit ${most}`,
    values: 'userId' in party ? [null, party.userId] : [party.wallet, null],
  })
  return rows.map(presentListItem)
}
