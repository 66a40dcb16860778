import { composeMail } from '../src/compose.js'
import { createMailerBatch } from '../src/mail/send-emails.js'
import type { Batch } from '../src/platform/worker/batch-loop.js'
import type { Services } from '../src/services.js'

/** Sends e-mails. The only worker that talks to the mail server, and holds its password. */
export function mailer(services: Services): Batch {
  return createMailerBatch({ ...services, mail: composeMail() })
}
