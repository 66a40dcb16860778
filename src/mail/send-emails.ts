import { ProviderError } from '../kernel/provider-error.js'
import { query } from '../platform/database/database.js'
import type { Batch } from '../platform/worker/batch-loop.js'
import type { Mail } from '../ports/mail.js'
import type { Services } from '../services.js'

/** The e-mails of one batch are sent concurrently. */
const batchSize = 10
/** A taken e-mail that is not finished within this time is due again: its mailer died. Longer than any attempt. */
const leaseSeconds = 60
/** Pauses are 5 s, 15 s, 45 s ... up to an hour. The last of twelve attempts comes after five and a half hours. */
const attemptsMost = 12
const firstPauseSeconds = 5
const longestPauseSeconds = 3600

type Needs = Pick<Services, 'db' | 'log' | 'metrics'> & { readonly mail: Mail }

interface DueEmail {
  readonly id: string
  readonly kind: string
  readonly to: string
  readonly subject: string
  readonly text: string
  readonly html: string
  readonly attempts: number
  readonly expired: boolean
}

/**
 * Sends due e-mails. Each e-mail is independent: a failed one is retried alone, and a slow one delays only its batch.
 * If a mailer dies after it sent an e-mail and before it recorded that, the e-mail is sent again with the same
 * Message-ID. A duplicate is better than a lost code.
 */
export function createMailerBatch(services: Needs): Batch {
  return async () => {
    const due = await takeDueEmails(services)
    const pauses = await Promise.all(due.map((email) => attempt(services, email)))
    return { taken: due.length, nextDueMs: Math.min(...pauses) }
  }
}

/** The condition uses `now()`, not `clock_timestamp()`: only a stable value can use the index on `due_at`. */
function takeDueEmails({ db }: Needs): Promise<DueEmail[]> {
  return query<DueEmail>(db, {
    name: 'emails.take',
    text: /* sql */ `
      with due as (
        select id from emails where due_at <= now() order by due_at limit $1 for update skip locked)
      update emails e
         set due_at = clock_timestamp() + $2 * interval '1 second', attempts = attempts + 1
        from due where e.id = due.id
      returning e.id, e.kind, e.recipient as "to", e.subject, e.body_text as text, e.body_html as html,
                e.attempts, coalesce(e.expires_at <= clock_timestamp(), false) as expired`,
    values: [batchSize, leaseSeconds],
  })
}

/** Returns the ms until this e-mail is due again, or Infinity when the work on it has ended. */
async function attempt(services: Needs, email: DueEmail): Promise<number> {
  if (email.expired) return giveUp(services, email, 'expired')
  try {
    await services.mail.send(email)
  } catch (error) {
    const { kind, message } = failureOf(error)
    if (kind === 'rejected') return refuse(services, email, message)
    if (email.attempts >= attemptsMost) return giveUp(services, email, message)
    return scheduleRetry(services, email, message)
  }
  await finish(services, email, { sent: true, error: null })
  return Number.POSITIVE_INFINITY
}

/** Keeps only our own adapter's message. Any other error may quote the e-mail. */
function failureOf(error: unknown): Pick<ProviderError, 'kind' | 'message'> {
  return error instanceof ProviderError ? error : { kind: 'ambiguous', message: 'unexpected error' }
}

/** The mail server refused the address or the content for good. A retry or an operator cannot help. */
async function refuse(services: Needs, email: DueEmail, error: string): Promise<number> {
  services.log.warn({ kind: email.kind, error }, 'an e-mail was refused, it will not be sent')
  await finish(services, email, { sent: false, error })
  return Number.POSITIVE_INFINITY
}

async function giveUp(services: Needs, email: DueEmail, error: string): Promise<number> {
  services.metrics.alerts.inc({ kind: 'mail_given_up' })
  services.log.error(
    { kind: email.kind, attempts: email.attempts, error },
    'an e-mail could not be sent in time',
  )
  await finish(services, email, { sent: false, error })
  return Number.POSITIVE_INFINITY
}

/** Ends the work on an e-mail and deletes its bodies. Fenced on `attempts`: another batch's row is left unchanged. */
async function finish(
  { db }: Needs,
  { id, attempts }: DueEmail,
  { sent, error }: { readonly sent: boolean; readonly error: string | null },
): Promise<void> {
  await query(db, {
    name: 'emails.finish',
    text: /* sql */ `
      update emails
         set sent_at = case when $3 then clock_timestamp() end, last_error = $4,
             due_at = null, body_text = null, body_html = null
       where id = $1 and attempts = $2 and due_at is not null`,
    values: [id, attempts, sent, error],
  })
}

async function scheduleRetry({ db, log }: Needs, email: DueEmail, error: string): Promise<number> {
  const { id, kind, attempts } = email
  const pause = Math.min(firstPauseSeconds * 3 ** (attempts - 1), longestPauseSeconds)
  log.warn({ kind, attempts, pause, error }, 'an e-mail was not sent, it will be retried')
  await query(db, {
    name: 'emails.schedule-retry',
    text: /* sql */ `
      update emails set due_at = clock_timestamp() + $3 * interval '1 second', last_error = $4
       where id = $1 and attempts = $2 and due_at is not null`,
    values: [id, attempts, pause, error],
  })
  return pause * 1000
}
