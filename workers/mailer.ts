import { composeMail } from '../src/compose.js'
import { createMailerBatch } from '../src/mail/send-emails.js'
import { loadMail } from '../src/platform/config/own-settings.js'
import type { WorkerDefinition } from './worker-definition.js'

/** Sends e-mails. The only worker with the mail server's password. Woken by each queued mail. */
export const mailer: WorkerDefinition = {
  createBatch: (services) => createMailerBatch({ ...services, mail: composeMail() }),
  concurrency: 4,
  readOwnSettings: loadMail,
}
