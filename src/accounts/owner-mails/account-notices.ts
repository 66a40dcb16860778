import { type NoticeText, nothingToDo } from './notice-text.js'
import { quoteDomainInMail, quoteInMail } from './quote.js'

/** What the owner is told about the account itself: how one signs in, who may use it, freezing. */
export type AccountNotice =
  | { readonly kind: 'new-device'; readonly network: string; readonly userAgent: string | null }
  | {
      readonly kind: 'email-proven'
      /** Undefined: what was set up before stays. */
      readonly voidReason: 'elsewhere' | 'unproven' | 'not-mine' | undefined
      /** Other sessions and the API keys have ended, and nothing else. */
      readonly othersEnded?: boolean
    }
  | { readonly kind: 'password-changed' }
  | { readonly kind: 'email-change-requested' | 'email-changed'; readonly newEmail: string }
  | { readonly kind: 'factor-added' | 'factor-removed'; readonly factor: FactorName }
  | { readonly kind: 'api-key-created'; readonly prefix: string; readonly label: string | null }
  | { readonly kind: 'site-added'; readonly sites: readonly string[] }
  | { readonly kind: 'account-frozen' }
  | { readonly kind: 'account-unfrozen'; readonly passwordVoid: boolean }

/** Labels are left out: whoever adds a passkey chooses its label. */
export type FactorName =
  | 'An authenticator app'
  | 'A passkey'
  | 'A new set of recovery codes'
  | 'Every second factor'

/** Every kind. */
export const accountNoticeKinds = Object.keys({
  'new-device': true,
  'email-proven': true,
  'password-changed': true,
  'email-change-requested': true,
  'email-changed': true,
  'factor-added': true,
  'factor-removed': true,
  'api-key-created': true,
  'site-added': true,
  'account-frozen': true,
  'account-unfrozen': true,
} satisfies Record<AccountNotice['kind'], true>)

/**
 * The words of a notice about the account. They never contain the account's name: whoever registers an address chooses it. What
 * others have chosen, such as a label, is quoted and cut.
 */
export function describeAccountNotice(notice: AccountNotice, site: string): NoticeText {
  switch (notice.kind) {
    case 'new-device':
      return {
        subject: `A new device signed in to ${site}`,
        lines: [
          `Somebody signed in to your account at ${site} with a browser that has not been used there before.`,
        ],
        advice: [nothingToDo],
        security: true,
      }
    case 'email-proven':
      return emailProven(notice, site)
    case 'password-changed':
      return {
        subject: `Your password at ${site} was changed`,
        lines: [
          `The password of your account at ${site} was changed. The sessions that were open before have ended.`,
        ],
        advice: [nothingToDo],
        security: true,
      }
    case 'email-change-requested':
      return {
        subject: `A new e-mail address for your account at ${site}`,
        lines: [
          `Somebody, most likely you, wants to change the e-mail address of your account at ${site}. It changes when the link mailed to the new address is used.`,
        ],
        facts: [['New address', quoteDomainInMail(notice.newEmail)]],
        advice: [nothingToDo],
        security: true,
      }
    case 'email-changed':
      return {
        subject: `Your e-mail address at ${site} was changed`,
        lines: [`The e-mail address of your account at ${site} was changed.`],
        facts: [['New address', quoteDomainInMail(notice.newEmail)]],
        advice: [nothingToDo],
        security: true,
      }
    case 'factor-added':
    case 'factor-removed':
      return factorText(notice, site)
    case 'api-key-created':
      return {
        subject: `A new API key at ${site}`,
        lines: [
          `An API key was made for your account at ${site}. It can open checkouts and read your tips, but cannot move money.`,
        ],
        facts: [
          ['Begins with', `tk_live_${notice.prefix.slice(0, prefixShown)}...`],
          ...(notice.label === null ? [] : [['Label', quoteInMail(notice.label)] as const]),
        ],
        advice: [nothingToDo],
        security: true,
      }
    case 'site-added':
      return siteText(notice.sites, site)
    case 'account-frozen':
      return {
        subject: `Your account at ${site} is frozen`,
        lines: [
          `Your account at ${site} is frozen. Everybody is signed out, and nothing can be withdrawn or changed. Your money is safe, and tips still arrive.`,
        ],
        advice: [
          'Reply to this e-mail. We help you to see what happened, and unfreeze the account once we know that you are its owner.',
          'If somebody else may know the password of your mailbox, change that one first.',
        ],
        security: false,
      }
    case 'account-unfrozen':
      return {
        subject: `Your account at ${site} works again`,
        lines: [
          `Your account at ${site} is not frozen any more. Everybody is signed out.`,
          'Any recovery codes are removed, and so are any authenticator apps and passkeys that were added in the 72 hours before the freezing or since: somebody else may have added them.',
        ],
        advice: [
          `${notice.passwordVoid ? 'The old password does not work any more. Before you do anything else, set a new one with the link in our other e-mail' : 'Before you do anything else, set a new password in the settings'}, or choose "Forgot password?" where you sign in to ${site}. Take one that you use nowhere else. Then look through your bank accounts, API keys, sites and passkeys in the settings, and remove what you do not know.`,
          'If that has removed yours, then add an authenticator app or a passkey again, and make new recovery codes.',
          'If you did not talk to us about this, reply to this e-mail at once.',
        ],
        security: false,
      }
  }
}

const mostSites = 10
/** Enough to find the key in the list of keys. */
const prefixShown = 5

const setUpBySomebody = {
  elsewhere: 'The account was registered from another network, perhaps by somebody else.',
  unproven: 'The account was set up before that, perhaps by somebody else.',
  'not-mine': 'When you signed in, you said that somebody else set up the account.',
} as const

function emailProven(
  { voidReason: reason, othersEnded }: Extract<AccountNotice, { readonly kind: 'email-proven' }>,
  site: string,
): NoticeText {
  const shown = `You have shown that this e-mail address is yours, at ${site}.`
  return {
    subject: `Your e-mail address is verified at ${site}`,
    lines:
      reason === undefined
        ? [
            shown,
            ...(othersEnded === true ? ['Other sessions and API keys from before that have ended.'] : []),
          ]
        : [
            shown,
            `${setUpBySomebody[reason]} So its old password, sessions, API keys and second factors do not work any more.`,
          ],
    advice: reason === undefined ? [nothingToDo] : ['Set a new password in the settings.', nothingToDo],
    security: true,
  }
}

type FactorNotice = Extract<AccountNotice, { readonly factor: FactorName }>

function factorText({ kind, factor }: FactorNotice, site: string): NoticeText {
  const added = kind === 'factor-added'
  const [done, where] = added ? ['added', 'to'] : ['removed', 'from']
  return {
    subject: `${factor} was ${done} at ${site}`,
    lines: [`${factor} was ${done} ${where} your account at ${site}.`],
    facts: [[added ? 'Added' : 'Removed', factor]],
    advice: [nothingToDo],
    security: true,
  }
}

function siteText(sites: readonly string[], site: string): NoticeText {
  const more = sites.length - mostSites
  const listed = sites.slice(0, mostSites).map((one) => quoteDomainInMail(one))
  return {
    subject: `A new site for your tips at ${site}`,
    lines: [
      sites.length === 0
        ? `More sites may now show the checkout of your account at ${site}.`
        : `These sites may now show the checkout of your account at ${site}.`,
    ],
    facts:
      sites.length === 0
        ? []
        : [
            [
              sites.length === 1 ? 'Site' : 'Sites',
              [...listed, ...(more > 0 ? [`and ${more} more`] : [])].join(', '),
            ],
          ],
    advice: [nothingToDo],
    security: true,
  }
}

/** A notice for an address that nobody has proven: without what the holder of the account has written. */
export function withoutWords(notice: AccountNotice): AccountNotice {
  if (notice.kind === 'api-key-created') return { ...notice, label: null }
  if (notice.kind === 'site-added') return { ...notice, sites: [] }
  return notice.kind === 'new-device' ? { ...notice, userAgent: null } : notice
}
