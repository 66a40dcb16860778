import { queueEmail } from '../../mail/queue-email.js'
import { query, write } from '../../platform/database/database.js'
import type { UnitOfWork } from '../../platform/database/transact.js'
import type { Services } from '../../services.js'
import type { ConfirmedTip } from '../read/present.js'
import { confirmedColumns } from '../read/present.js'
import type { TipMailChoice } from './choose-tip-mails.js'
import { tipMail } from './tip-mail.js'

/** Where a mail turns these mails off, for a reader and for the mail program (RFC 8058). */
export const stopPath = '/tip-mails/:token'

/** Creators of one run. The rest follows in the next. */
const mostCreators = 500
/** Tips of one mail. The rest follows in the next. */
const mostTips = 5000

interface DueMail {
  readonly party: bigint
  readonly choice: Exclude<TipMailChoice, 'off'>
  readonly email: string
  readonly stopToken: string
  readonly after: Date
  /** Tips confirmed later are of another mail. */
  readonly before: Date
}

/** The last time it was 08:00 in Lagos, which has no summer time. */
const morning = /* sql */ `
  (date_trunc('day', (now() at time zone 'Africa/Lagos') - interval '8 hours') + interval '8 hours') at time zone 'Africa/Lagos'`

/** Who has turned nothing off is told of tips: of the last day at the first time, as when an address was just confirmed. */
const openRows = /* sql */ `
  insert into tip_mails (party_id, choice, told_until)
  select p.id, u.tip_mails, now() - interval '1 day'
    from creator_cursors c join parties p on p.id = c.party_id join users u on u.id = p.user_id
   where c.last_at > now() - interval '1 day' and u.tip_mails <> 'off' and u.email_verified_at is not null
     and u.closed_at is null and not exists (select from tip_mails m where m.party_id = p.id)
  on conflict (party_id) do nothing`

/**
 * The mails that are due: at most one in a quarter of an hour, or one for all tips until this morning. Confirmations write
 * nothing for it: the cursor that orders them says who has new tips (docs/decisions/0082), and an index finds those of this week. The
 * choice is compared with the user's: a row may have been opened while it was turned off.
 */
const dueSql = /* sql */ `
  with this as (select ${morning} as morning)
  select m.party_id as party, m.choice, u.email, m.stop_token as "stopToken", m.told_until as after,
    case m.choice when 'daily' then this.morning else c.last_at end as before
  from this, tip_mails m join creator_cursors c on c.party_id = m.party_id
    join parties p on p.id = m.party_id join users u on u.id = p.user_id
  where c.last_at > m.told_until and c.last_at > now() - interval '7 days' and u.tip_mails = m.choice and u.frozen_at is null
    and u.closed_at is null and u.email_verified_at is not null
    and case m.choice
      when 'daily' then m.told_until < this.morning and coalesce(m.mailed_at < this.morning, true)
      else coalesce(m.mailed_at <= now() - interval '15 minutes', true) end
    and exists (
      select from tips t where t.recipient_party = m.party_id and t.status = 'confirmed' and t.confirmed_at > m.told_until
        and t.confirmed_at <= case m.choice when 'daily' then this.morning else c.last_at end)`

/** Mails creators about their new tips. Safe to run in parallel: the row lock and the cursor make each tip part of one mail. */
export async function sendTipMails(
  services: Pick<Services, 'db' | 'transact' | 'config' | 'log'>,
): Promise<void> {
  await query(services.db, { name: 'tip-mails.open', text: openRows })
  const due = await query<DueMail>(services.db, {
    name: 'tip-mails.due',
    text: `${dueSql} order by m.told_until limit ${mostCreators}`,
  })
  let mails = 0
  for (const { party } of due)
    try {
      await services.transact((uow) => sendMail(services, uow, party))
      mails++
    } catch (error) {
      // It is due again in the next run. The others must not wait for it.
      services.log.error({ err: error, party: String(party) }, 'a mail about tips failed')
    }
  if (mails > 0) services.log.info({ mails }, 'mailed creators about tips')
}

async function sendMail({ config }: Pick<Services, 'config'>, uow: UnitOfWork, party: bigint): Promise<void> {
  // Another clock's mail changes the row, so this one no longer finds it due.
  const [due] = await query<DueMail>(uow.trx, {
    name: 'tip-mails.take',
    text: `${dueSql} and m.party_id = $1 for update of m skip locked`,
    values: [party],
  })
  if (due === undefined) return
  const tips = await query<ConfirmedTip & { readonly usd: string | null }>(uow.trx, {
    name: 'tip-mails.tips',
    text: /* sql */ `
      select ${confirmedColumns}, x.usd
      from (select * from tips where recipient_party = $1 and status = 'confirmed' and confirmed_at > $2 and confirmed_at <= $3
            order by confirmed_at limit ${mostTips}) t
      join parties r on r.id = t.recipient_party left join parties s on s.id = t.sender_party left join prices x on x.mint = t.mint
      order by t.confirmed_at`,
    values: [party, due.after, due.before],
  })
  const last = tips.at(-1)
  if (last === undefined) return
  const { publicUrl } = config.http
  const unsubscribeUrl = `${publicUrl}${stopPath.replace(':token', due.stopToken)}`
  const content = tipMail(tips, { choice: due.choice, publicUrl, stopUrl: unsubscribeUrl })
  await queueEmail(uow, { kind: 'tips', to: due.email, unsubscribeUrl, ...content })
  await write(uow.trx, {
    name: 'tip-mails.told',
    text: 'update tip_mails set told_until = $2, mailed_at = clock_timestamp() where party_id = $1',
    values: [party, last.confirmedAt],
  })
}
