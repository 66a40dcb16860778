import { type EmailContent, renderEmail } from '../../src/mail/layout.js'

/** A row of `emails`, as far as it is rendered. */
export interface QueuedEmail {
  readonly subject: string
  /** Null: it is sent, or given up. */
  readonly body: Omit<EmailContent, 'subject'> | null
}

/** A queued e-mail as it will be sent. Empty: there is none. */
export function renderQueued(email: QueuedEmail | undefined) {
  return email?.body
    ? renderEmail({ ...email.body, subject: email.subject })
    : { subject: '', text: '', html: '' }
}

export const mailText = (email: QueuedEmail | undefined): string => renderQueued(email).text
