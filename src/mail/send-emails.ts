import { SealBroken } from '../kernel/aead.js'
import { ProviderError } from '../kernel/provider-error.js'
import {
  countTaken,
  type DueRows,
  finishRows,
  type Schedule,
  takeDueRows,
} from '../platform/database/due-rows.js'
import { groupCommit } from '../platform/database/group-commit.js'
import type { Batch } from '../platform/worker/batch-loop.js'
import type { Mail } from '../ports/mail.js'
import type { Services } from '../services.js'
import { type EmailContent, renderEmail, testEmail } from './layout.js'
import { openAddress } from './queue-email.js'

/** The e-mails of a batch are sent concurrently. One that is finished for good keeps no content. */
const emailQueue: DueRows = {
  name: 'emails',
  table: 'emails',
  id: 'uuid',
  batchSize: 10,
  leaseSeconds: 60,
  columns: /* sql */ `
    t.id, t.kind, t.recipient, t.sealed_recipient as "sealedRecipient", t.subject, t.body,
    t.unsubscribe_url as "unsubscribeUrl", t.attempts, coalesce(t.expires_at <= clock_timestamp(), false) as expired`,
  onFinish: {
    columns: { sent: 'boolean', error: 'text' },
    set: /* sql */ `
      sent_at = case when s.sent then clock_timestamp() end, last_error = s.error,
      body = case when s.due_in_ms is not null then t.body end,
      unsubscribe_url = case when s.due_in_ms is not null then t.unsubscribe_url end`,
  },
}
/** Pauses are 5 s, 15 s, 45 s ... up to an hour. The last of twelve attempts comes after five and a half hours. */
const attemptsMost = 12
const firstPauseSeconds = 5
const longestPauseSeconds = 3600

type Needs = Pick<Services, 'config' | 'log' | 'metrics'> & {
  readonly mail: Pick<Mail, 'send'>
  /** Records what became of an e-mail. Those that end at the same time share a statement. */
  readonly record: (result: Result) => Promise<unknown>
}

interface Result extends Schedule {
  readonly sent: boolean
  readonly error: string | null
}

interface DueEmail {
  readonly id: string
  readonly kind: string
  /** Null: the address is sealed. */
  readonly recipient: string | null
  readonly sealedRecipient: Buffer | null
  readonly subject: string
  readonly body: Omit<EmailContent, 'subject'>
  readonly unsubscribeUrl: string | null
  readonly attempts: number
  readonly expired: boolean
}

/**
 * Sends due e-mails. Each e-mail is independent: a failed one is retried alone, and a slow one delays only its batch.
 * If a mailer dies after it sent an e-mail and before it recorded that, the e-mail is sent again with the same
 * Message-ID. A duplicate is better than a lost code.
 */
export function createMailerBatch(given: Omit<Needs, 'record'> & Pick<Services, 'db'>): Batch {
  const { db } = given
  // When a group fails, each is written alone: an e-mail whose result is not recorded is sent twice.
  const record = groupCommit(
    async (results: Result[]) => {
      await finishRows(db, emailQueue, results)
      return results
    },
    { concurrency: 1 },
  )
  const services = { ...given, record }
  return async () => {
    const due = await takeDueRows<DueEmail>(db, emailQueue)
    const pauses = await Promise.all(due.map((email) => attempt(services, email)))
    return { ...countTaken(due, emailQueue), nextDueMs: Math.min(...pauses) }
  }
}

/** Returns the ms until this e-mail is due again, or Infinity when the work on it has ended. */
async function attempt(services: Needs, email: DueEmail): Promise<number> {
  if (email.expired) return giveUp(services, email, 'expired')
  try {
    const { id, subject, body, unsubscribeUrl } = email
    const rendered = renderEmail({ ...body, subject })
    const content = services.config.mode === 'test' ? testEmail(rendered) : rendered
    const to = addressOf(services, email)
    await services.mail.send({ ...content, id, to, unsubscribeUrl: unsubscribeUrl ?? undefined })
  } catch (error) {
    const { kind, message } = failureOf(error)
    if (kind === 'rejected') return refuse(services, email, message)
    if (email.attempts >= attemptsMost) return giveUp(services, email, message)
    return scheduleRetry(services, email, message)
  }
  return finish(services, email, { sent: true, error: null })
}

function addressOf({ config }: Needs, { recipient, sealedRecipient }: DueEmail): string {
  if (recipient !== null) return recipient
  if (sealedRecipient === null) throw new Error('An e-mail has no address')
  return openAddress(config.dataKeys, sealedRecipient)
}

/** Keeps only our own adapter's message. Any other error may quote the e-mail. */
function failureOf(error: unknown): Pick<ProviderError, 'kind' | 'message'> {
  if (error instanceof SealBroken)
    return { kind: 'unavailable', message: 'the address does not open: DATA_KEY is another one' }
  return error instanceof ProviderError ? error : { kind: 'ambiguous', message: 'unexpected error' }
}

/** The mail server refused the address or the content for good. A retry or an operator cannot help. */
async function refuse(services: Needs, email: DueEmail, error: string): Promise<number> {
  services.log.warn({ kind: email.kind, error }, 'an e-mail was refused, it will not be sent')
  return finish(services, email, { sent: false, error })
}

async function giveUp(services: Needs, email: DueEmail, error: string): Promise<number> {
  services.metrics.alerts.inc({ kind: 'mail_given_up' })
  services.log.error(
    { kind: email.kind, attempts: email.attempts, error },
    'an e-mail could not be sent in time',
  )
  return finish(services, email, { sent: false, error })
}

/** Ends the work on an e-mail, or has it tried again after a pause. Returns the ms until then. */
async function finish(
  { record }: Needs,
  { id, attempts }: DueEmail,
  result: { readonly sent: boolean; readonly error: string | null; readonly dueInMs?: number },
): Promise<number> {
  await record({ id, attempts, dueInMs: null, ...result })
  return result.dueInMs ?? Number.POSITIVE_INFINITY
}

async function scheduleRetry(services: Needs, email: DueEmail, error: string): Promise<number> {
  const { kind, attempts } = email
  const pause = Math.min(firstPauseSeconds * 3 ** (attempts - 1), longestPauseSeconds)
  services.log.warn({ kind, attempts, pause, error }, 'an e-mail was not sent, it will be retried')
  return finish(services, email, { sent: false, error, dueInMs: pause * 1000 })
}
