import type { EmailContent } from '../../mail/layout.js'

export interface CodeEmail {
  readonly code: string
  /** The code's lifetime in minutes. */
  readonly minutes: number
  /** The host name of the site where the code is entered. */
  readonly site: string
  /** Asked for by somebody who is signed in and has yet to prove the address. */
  readonly confirms: boolean
}

export interface LinkEmail extends Omit<CodeEmail, 'code' | 'confirms'> {
  /** The address of the link. */
  readonly url: string
}

/** The e-mail with a link that logs in while codes are locked. */
export function linkEmail({ url, minutes, site }: LinkEmail): EmailContent {
  return {
    subject: `Your link to log in to ${site}`,
    blocks: [
      `Too many wrong codes were entered for this e-mail address, so codes do not work for a while. If you want to log in to ${site}, open this link and press the button there:`,
      { link: url, label: 'Log in' },
      `It is valid for ${minutes} minutes and works once. Never give it to anybody: we never ask for it.`,
      'If it was not you, ignore this e-mail; nobody can log in without the link, and your password still works.',
    ],
  }
}

/**
 * The e-mail with a one-time code. The subject does not contain the code, because locked screens show subjects and
 * mail servers log them. The e-mail does not contain the account's name: anyone can register another person's
 * address and would so choose text that we send to that person.
 */
export function codeEmail({ code, minutes, site, confirms }: CodeEmail): EmailContent {
  return {
    subject: confirms ? `Confirm your e-mail address at ${site}` : `Your code to log in to ${site}`,
    blocks: [
      confirms
        ? `Somebody, most likely you, has an account at ${site} with this e-mail address. To confirm that the address is yours, enter this code there:`
        : `Somebody, most likely you, wants to log in to ${site} with this e-mail address. Enter this code there:`,
      { standout: code },
      `It is valid for ${minutes} minutes and works once. Never give it to anybody: we never ask for it.`,
      confirms
        ? 'If it was not you, ignore this e-mail: the account does not get your address without the code, which also logs in.'
        : 'If it was not you, ignore this e-mail; nobody can log in without the code.',
    ],
  }
}
