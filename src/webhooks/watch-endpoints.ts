import type { Knex } from 'knex'
import { youngWhenFrozen } from '../accounts/protection.js'
import { queueEmail } from '../mail/queue-email.js'
import { query, write } from '../platform/database/database.js'
import type { Services } from '../services.js'
import { fanOut } from './endpoint-queue.js'
import { type FailingEndpoint, failingMail } from './mails.js'

const warnAfterHours = 24
const disableAfterDays = 5
/** Endpoints of one run. The rest follows in the next. */
const mostEndpoints = 500

/**
 * Disables endpoints to which nothing was delivered for days, and mails their creators: after a day of failures, and when one was
 * disabled. It makes deliveries too: without a dispatcher nothing would become due, and no alarm would sound. Safe to run in
 * parallel.
 */
export async function watchEndpoints(
  services: Pick<Services, 'config' | 'db' | 'log' | 'transact'>,
): Promise<void> {
  const { config, db, log, transact } = services
  await disableVoid(db)
  await fanOut(db, null)
  const mails = await transact(async (uow) => {
    const due = await query<FailingEndpoint & { readonly email: string | null }>(uow.trx, {
      name: 'webhooks.failing',
      text: /* sql */ `
        with due as (
          select id from webhook_endpoints
          where (failing_since < now() - interval '${warnAfterHours} hours' and disabled is null
              and (told is null or failing_since < now() - interval '${disableAfterDays} days'))
            or (disabled in ('gone', 'failing') and told is distinct from 'disabled')
          order by id limit ${mostEndpoints} for update skip locked
        ), told as (
          update webhook_endpoints e set
            disabled = coalesce(disabled, case when failing_since < now() - interval '${disableAfterDays} days' then 'failing' end),
            disabled_at = coalesce(disabled_at, case when failing_since < now() - interval '${disableAfterDays} days' then now() end),
            due_at = case when disabled is null and failing_since >= now() - interval '${disableAfterDays} days' then due_at end,
            told = case when disabled is not null or failing_since < now() - interval '${disableAfterDays} days'
              then 'disabled' else 'failing' end
          from due where e.id = due.id returning e.id, e.user_id, e.url, e.disabled, e.failing_since, e.last_error
        )
        select t.id, t.url, t.disabled, t.failing_since as "failingSince", t.last_error as "lastError",
          case when u.email_verified_at is not null then u.email end as email
        from told t join users u on u.id = t.user_id`,
      values: [],
    })
    for (const { email, ...endpoint } of due)
      if (email !== null)
        await queueEmail(uow, {
          kind: endpoint.disabled === null ? 'webhook-failing' : 'webhook-disabled',
          to: email,
          ...failingMail(endpoint, config.http.publicUrl),
        })
    return due.length
  })
  if (mails > 0) log.info({ endpoints: mails }, 'webhooks that fail')
}

/** As API keys are void that somebody else may have made (creators/api-keys.ts). The owner may enable such an endpoint. */
async function disableVoid(db: Knex): Promise<void> {
  await write(db, {
    name: 'webhooks.void',
    text: /* sql */ `
      update webhook_endpoints e set disabled = 'void', disabled_at = now(), due_at = null
      where e.disabled is null and (
        exists (
          select from users u
           where u.id = e.user_id and (e.pointed_at < u.credentials_void_before or ${youngWhenFrozen('e.pointed_at')}))
        or exists (select from email_changes c where c.user_id = e.user_id and e.pointed_at between c.changed_at and c.undone_at))`,
    values: [],
  })
}

/** Disables the endpoints that were set up or enabled then or later, as `disableVoid` does while the account is frozen. */
export async function disableYoung(trx: Knex.Transaction, userId: string, since: Date): Promise<void> {
  await write(trx, {
    name: 'webhooks.void-young',
    text: /* sql */ `
      update webhook_endpoints set disabled = 'void', disabled_at = now(), due_at = null
      where user_id = $1 and disabled is null and pointed_at >= $2`,
    values: [userId, since],
  })
}
