import { ProviderError } from '../kernel/provider-error.js'
import { query } from '../platform/database/database.js'
import type { Batch } from '../platform/worker/batch-loop.js'
import type { Mail } from '../ports/mail.js'
import type { Services } from '../services.js'

/** E-mails of one batch, all sent at once. */
const batch = 10
/** A claimed e-mail that was not finished within this time is due again: its mailer died. Longer than any attempt. */
const leaseSeconds = 60
/** Pauses of 5 s, 15 s, 45 s ... up to an hour: the last of twelve attempts comes after five and a half hours. */
const attemptsMost = 12
const firstPauseSeconds = 5
const longestPauseSeconds = 3600

type Needs = Pick<Services, 'db' | 'log' | 'metrics'> & { readonly mail: Mail }

interface Claimed {
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
 * Sends due e-mails. Each stands for itself: one that is refused or slow is put off alone and holds up nobody beyond
 * its batch. A mailer that dies between sending and noting it has the mail sent again (with the same Message-ID):
 * twice is a nuisance, never is a lost code.
 */
export function createMailerBatch(services: Needs): Batch {
  return async () => {
    const claimed = await claim(services)
    const pauses = await Promise.all(claimed.map((email) => attempt(services, email)))
    return { taken: claimed.length, nextDueMs: Math.min(...pauses) }
  }
}

/** `now()`, not `clock_timestamp()`, in the condition: only a stable bound can use the index of due rows. */
function claim({ db }: Needs): Promise<Claimed[]> {
  return query<Claimed>(db, {
    name: 'emails.claim',
    text: /* sql */ `
      with due as (
        select id from emails where due_at <= now() order by due_at limit $1 for update skip locked)
      update emails e
         set due_at = clock_timestamp() + $2 * interval '1 second', attempts = attempts + 1
        from due where e.id = due.id
      returning e.id, e.kind, e.recipient as "to", e.subject, e.body_text as text, e.body_html as html,
                e.attempts, coalesce(e.expires_at <= clock_timestamp(), false) as expired`,
    values: [batch, leaseSeconds],
  })
}

/** Returns the ms until this e-mail is due again; Infinity when it never is. */
async function attempt(services: Needs, email: Claimed): Promise<number> {
  if (email.expired) return giveUp(services, email, 'expired')
  try {
    await services.mail.send(email)
  } catch (error) {
    const { kind, message } = failureOf(error)
    if (kind === 'rejected') return refuse(services, email, message)
    if (email.attempts >= attemptsMost) return giveUp(services, email, message)
    return putOff(services, email, message)
  }
  await finish(services, email, { sent: true, error: null })
  return Number.POSITIVE_INFINITY
}

/** Only our own adapter's words are kept: any other error may quote the mail. */
function failureOf(error: unknown): Pick<ProviderError, 'kind' | 'message'> {
  return error instanceof ProviderError ? error : { kind: 'ambiguous', message: 'unexpected error' }
}

/** The address or the content is not accepted: asking again changes nothing, and no operator can help. */
async function refuse(services: Needs, email: Claimed, error: string): Promise<number> {
  services.log.warn({ kind: email.kind, error }, 'an e-mail was refused')
  await finish(services, email, { sent: false, error })
  return Number.POSITIVE_INFINITY
}

async function giveUp(services: Needs, email: Claimed, error: string): Promise<number> {
  services.metrics.alerts.inc({ kind: 'mail_given_up' })
  services.log.error({ kind: email.kind, attempts: email.attempts, error }, 'an e-mail was given up')
  await finish(services, email, { sent: false, error })
  return Number.POSITIVE_INFINITY
}

/** Ends the work on an e-mail and forgets its content. Fenced: one that another batch has claimed since is left to it. */
async function finish(
  { db }: Needs,
  { id, attempts }: Claimed,
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

async function putOff({ db, log }: Needs, email: Claimed, error: string): Promise<number> {
  const { id, kind, attempts } = email
  const pause = Math.min(firstPauseSeconds * 3 ** (attempts - 1), longestPauseSeconds)
  log.warn({ kind, attempts, pause, error }, 'an e-mail was put off')
  await query(db, {
    name: 'emails.put-off',
    text: /* sql */ `
      update emails set due_at = clock_timestamp() + $3 * interval '1 second', last_error = $4
       where id = $1 and attempts = $2 and due_at is not null`,
    values: [id, attempts, pause, error],
  })
  return pause * 1000
}
