import { partyWalletSql } from '../../creators/find-creator.js'
import { findParty } from '../../creators/resolve-creator.js'
import { query } from '../../platform/database/database.js'
import type { Services } from '../../services.js'
import type { TipListItem } from '../schemas.js'
import { type ListedTip, listColumns, presentListItem } from './present.js'

const maxTips = 50
/** Places that unpaid fiat intents may take from paid tips. Anyone may open such intents. */
const unpaidPlaces = 10

/**
 * The newest tips an address received or sent. Scans on partial indexes of listed tips stop at 50 rows each
 * (docs/decisions/0024): one scan with an OR would read every tip of a busy creator. Only the first scan returns a tip to
 * oneself. When it meets more unpaid intents than may take places, two more scans find what fills the places instead: the
 * tips confirmed last, and the next rows (docs/decisions/0024). A transaction that paid several creators is one tip of its sender.
 */
export async function listTips(
  services: Pick<Services, 'db' | 'names' | 'reads'>,
  address: string,
): Promise<TipListItem[]> {
  const party = await findParty(services, address)
  if (party === undefined) return []
  const statement = {
    name: 'tips.list',
    text: /* sql */ `
      with party as (
        select p.id from parties p left join users u on u.id = p.user_id
        where (p.wallet = ${partyWalletSql('$1')} or p.user_id = $2::uuid) and u.closed_at is null),
      received as materialized (
        select * from tips where recipient_party = (select id from party) and listed and (status = 'confirmed' or kind = 'fiat')
        order by recorded_at desc, id desc limit ${maxTips}),
      crowded as materialized (
        select count(*) > ${unpaidPlaces} as yes from received where status <> 'confirmed'),
      pool as (
        select * from received
        union all
        (select * from tips where recipient_party = (select id from party) and listed and (status = 'confirmed' or kind = 'fiat')
           and (select yes from crowded)
         order by recorded_at desc, id desc offset ${maxTips} limit ${maxTips})
        union all
        (select * from tips where recipient_party = (select id from party) and status = 'confirmed' and listed
           and (select yes from crowded)
         order by confirmed_at desc limit ${maxTips})
        union all
        (select * from tips where sender_party = (select id from party) and main_id is null and listed and (status = 'confirmed' or kind = 'fiat')
           and recipient_party <> (select id from party)
         order by recorded_at desc, id desc limit ${maxTips})),
      ranked as (
        select *, row_number() over (partition by status = 'confirmed' order by recorded_at desc, id desc) as place
        from (select distinct on (id) * from pool) p),
      newest as (
        select * from ranked order by status <> 'confirmed' and place > ${unpaidPlaces}, recorded_at desc, id desc
        limit ${maxTips})
      select ${listColumns}, p.usd
      from newest t join parties r on r.id = t.recipient_party left join parties s on s.id = t.sender_party
      left join prices p on p.mint = t.mint
      order by t.recorded_at desc, t.id desc`,
    values: 'userId' in party ? [null, party.userId] : [party.wallet, null],
  }
  const rows = await services.reads((db) => query<ListedTip>(db, statement))
  return rows.map(presentListItem)
}
