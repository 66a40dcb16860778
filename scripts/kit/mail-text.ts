import { type EmailContent, renderEmail } from '../../src/mail/layout.js'

/** A row of `emails`, as far as it is rendered. */
export interface QueuedEmail {
  readonly subject: string
  /** Null: it is sent, or given up. */
  readonly body: Omit<EmailContent, 'subject'> | null
}

/** What a queued e-mail says as plain text. Empty: there is none. */
export function mailText(email: QueuedEmail | undefined): string {
  return email?.body ? renderEmail({ ...email.body, subject: email.subject }).text : ''
}
