import { emailLayout } from '../../mail/layout.js'
import type { MailContent } from '../../mail/queue-email.js'

export interface CodeMail {
  readonly code: string
  /** How long the code is valid, in minutes. */
  readonly minutes: number
  /** Where it is to be entered, as the reader knows it: a host name. */
  readonly site: string
}

/**
 * The mail with a one-time code. The code is not in the subject: subjects are shown on locked screens and written to
 * the logs of every mail server on the way. Neither is the account's name anywhere in it, since whoever registers
 * somebody else's address chooses that name, and would choose what we write to them.
 */
export function codeMail({ code, minutes, site }: CodeMail): MailContent {
  return emailLayout({
    subject: `Your code to log in to ${site}`,
    blocks: [
      `Somebody, most likely you, wants to log in to ${site} with this e-mail address. Enter this code there:`,
      { standout: code },
      `It is valid for ${minutes} minutes and works once. Never give it to anybody: we never ask for it.`,
      'If it was not you, ignore this e-mail; nobody can log in without the code.',
    ],
  })
}
