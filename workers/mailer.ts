import { createMailDrain } from '../src/accounts/send-emails.js'
import { composeMail } from '../src/compose.js'
import type { Drain } from '../src/platform/drain-loop.js'
import type { Services } from '../src/services.js'

/** Sends e-mails. The only worker that talks to the mail server, and holds its password. */
export function mailer(services: Services): Drain {
  return createMailDrain({ ...services, mail: composeMail() })
}
