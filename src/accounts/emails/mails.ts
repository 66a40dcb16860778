import { type EmailContent, quoteDomainInMail } from '../../mail/layout.js'
import { type AccountNotice, nothingToDo, warning } from '../notify-owner.js'
import { cautionHours } from '../protection.js'

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
  return {
    subject: `Confirm your e-mail address at ${site}`,
    blocks: [
      `The owner of an account at ${site} wants to use this e-mail address for it. If that is you, open this link and press the button there:`,
      { link: url },
      `It is valid for ${minutes} minutes and works once.`,
      'If it was not you, ignore this e-mail: the account is not yours, and nothing changes.',
    ],
  }
}

/** The e-mail to the address that an account had before. `newEmail`: undefined for who may not know the account, which has chosen it. */
export function undoEmailMail({
  url,
  site,
  newEmail,
}: LinkMail & { readonly newEmail: string | undefined }): EmailContent {
  return {
    subject: `Your e-mail address at ${site} was changed`,
    blocks: [
      newEmail === undefined
        ? `The e-mail address of your account at ${site} was changed.`
        : `The e-mail address of your account at ${site} is now ${quoteDomainInMail(newEmail)}.`,
      'If it was not you, open this link and press the button there. It gives the account this address back, signs everybody out and voids the password; you then set a new one.',
      { link: url },
      `It works for ${cautionHours} hours, also if the address is changed again. Until then withdrawals are confirmed from this address.`,
    ],
  }
}

/** The current address is told that another one was mailed a link. */
export function changeRequestedNotice(newEmail: string): AccountNotice {
  return warning('email-change-requested', (site) => ({
    subject: `A new e-mail address for your account at ${site}`,
    lines: [
      `Somebody, most likely you, wants to change the e-mail address of your account at ${site}. It changes when the link mailed to the new address is used.`,
    ],
    facts: [['New address', quoteDomainInMail(newEmail)]],
  }))
}

export function emailChangedNotice(newEmail: string): AccountNotice {
  return warning('email-changed', (site) => ({
    subject: `Your e-mail address at ${site} was changed`,
    lines: [`The e-mail address of your account at ${site} was changed.`],
    facts: [['New address', quoteDomainInMail(newEmail)]],
  }))
}

/** Why the first proof of an e-mail voids what was set up before. */
export type VoidReason = 'elsewhere' | 'unproven' | 'not-mine'

const setUpBySomebody: Readonly<Record<VoidReason, string>> = {
  elsewhere: 'The account was registered from another network, perhaps by somebody else.',
  unproven: 'The account was set up before that, perhaps by somebody else.',
  'not-mine': 'When you signed in, you said that somebody else set up the account.',
}

/** `reason` undefined: what was set up before stays. `othersEnded`: but for other sessions and the API keys. */
export function emailProvenNotice(reason: VoidReason | undefined, othersEnded: boolean): AccountNotice {
  const ended = othersEnded ? ['Other sessions and API keys from before that have ended.'] : []
  const voided =
    reason &&
    `${setUpBySomebody[reason]} So its old password, sessions, API keys and second factors do not work any more.`
  return {
    kind: 'email-proven',
    describe: (site) => ({
      subject: `Your e-mail address is verified at ${site}`,
      lines: [
        `You have shown that this e-mail address is yours, at ${site}.`,
        ...(voided === undefined ? ended : [voided]),
      ],
      advice: [...(voided === undefined ? [] : ['Set a new password in the settings.']), nothingToDo],
      security: true,
    }),
  }
}
