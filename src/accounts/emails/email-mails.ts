import { emailLayout } from '../../mail/layout.js'
import type { EmailContent } from '../../mail/queue-email.js'
import { cautionHours } from '../recent-changes.js'

interface LinkMail {
  /** The address of the link. */
  readonly url: string
  /** The host name of the service. */
  readonly site: string
}

/** The e-mail to a new address. It does not contain the account's name: whoever asks for it chose the name. */
export function confirmEmailMail({
  url,
  site,
  minutes,
}: LinkMail & { readonly minutes: number }): EmailContent {
  return emailLayout({
    subject: `Confirm your e-mail address at ${site}`,
    blocks: [
      `The owner of an account at ${site} wants to use this e-mail address for it. If that is you, open this link and press the button there:`,
      { link: url },
      `It is valid for ${minutes} minutes and works once.`,
      'If it was not you, ignore this e-mail: the account is not yours, and nothing changes.',
    ],
  })
}

/** The e-mail to the address that an account had before. */
export function undoEmailMail({
  url,
  site,
  newEmail,
}: LinkMail & { readonly newEmail: string }): EmailContent {
  return emailLayout({
    subject: `Your e-mail address at ${site} was changed`,
    blocks: [
      `The e-mail address of your account at ${site} is now ${newEmail}.`,
      'If it was not you, open this link and press the button there. It gives the account this address back, signs everybody out and voids the password; you then set a new one.',
      { link: url },
      `It works for ${cautionHours} hours, also if the address is changed again. Until then withdrawals are confirmed from this address.`,
    ],
  })
}
