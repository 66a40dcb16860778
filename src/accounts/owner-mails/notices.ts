import { maskAccount } from '../../kernel/text.js'
import type { EmailFact } from '../../mail/layout.js'
import { type NoticeText, nothingToDo } from './notice-text.js'
import { quoteDomainInMail, quoteInMail } from './quote.js'
import { describeWalletNotice, type WalletNotice } from './wallet-notices.js'

/** What the owner of an account is told by mail. The kind is also the kind of the e-mail's row. */
export type OwnerNotice =
  | { readonly kind: 'new-device'; readonly network: string; readonly userAgent: string | null }
  | {
      readonly kind: 'email-proven'
      /** Undefined: what was set up before stays. */
      readonly voidReason: 'elsewhere' | 'not-mine' | undefined
    }
  | { readonly kind: 'password-changed' }
  | { readonly kind: 'email-change-requested' | 'email-changed'; readonly newEmail: string }
  | { readonly kind: 'factor-added' | 'factor-removed'; readonly factor: FactorName }
  | { readonly kind: 'api-key-created'; readonly prefix: string; readonly label: string | null }
  | { readonly kind: 'site-added'; readonly sites: readonly string[] }
  | { readonly kind: 'payee-added' | 'withdrawal-requested'; readonly withdrawal: WithdrawalNotice }
  | { readonly kind: 'withdrawal-paid' | 'withdrawal-returned'; readonly withdrawal: WithdrawalNotice }
  | { readonly kind: 'withdrawal-failed'; readonly withdrawal: WithdrawalNotice; readonly reason: string }
  | { readonly kind: 'withdrawal-cancelled'; readonly withdrawal: WithdrawalNotice }
  | { readonly kind: 'refund-requested' | 'refund-paid'; readonly refund: RefundNotice }
  | { readonly kind: 'refund-failed'; readonly refund: RefundNotice; readonly reason: string }
  | WalletNotice
  | {
      readonly kind: 'dispute-opened' | 'dispute-won' | 'dispute-lost' | 'payment-returned'
      readonly payment: PaymentNotice
    }
  | { readonly kind: 'account-frozen' }
  | { readonly kind: 'account-unfrozen'; readonly passwordVoid: boolean }

/** Labels are left out: whoever adds a passkey chooses its label. */
export type FactorName =
  | 'An authenticator app'
  | 'A passkey'
  | 'A new set of recovery codes'
  | 'Every second factor'

export interface WithdrawalNotice {
  readonly reference: string
  /** Such as `NGN 12,500.00`. */
  readonly amount: string
  readonly bank: string
  readonly lastFour: string
}

/** A naira tip that its creator gives back. Amounts as text. */
interface RefundNotice {
  readonly tipId: string
  /** Of the tip's amount, such as `USD 10`. */
  readonly amount: string
  /** What the payer gets, such as `NGN 15,200.00`. */
  readonly naira: string
  /** Of the balance, such as `9.5 USDC`. */
  readonly debit: string
}

/** Naira of a tip that its payer has back, or wants back. Amounts as text, such as `NGN 12,500.00` and `USDC 7.5`. */
export interface PaymentNotice {
  readonly tipId: string
  readonly naira: string
  /** What it is of the balance. */
  readonly usdc: string
  /** What the balance did not have. Undefined: nothing. */
  readonly owed: string | undefined
}

const mostSites = 10

/**
 * Every kind, and whether the owner of a proven address always gets it: a thief must not bury where money goes under other
 * mails.
 */
export const alwaysMailed: Readonly<Record<OwnerNotice['kind'], boolean>> = {
  'new-device': false,
  'email-proven': false,
  'password-changed': false,
  'email-change-requested': false,
  'email-changed': false,
  'factor-added': false,
  'factor-removed': false,
  'api-key-created': false,
  'site-added': false,
  'payee-added': true,
  'withdrawal-requested': true,
  'withdrawal-paid': true,
  'withdrawal-returned': true,
  'withdrawal-failed': true,
  'withdrawal-cancelled': true,
  'refund-requested': true,
  'refund-paid': true,
  'refund-failed': true,
  'payout-wallet-set': true,
  'payout-wallet-removed': true,
  'tips-to-changed': true,
  'take-out-signed': true,
  'dispute-opened': true,
  'dispute-won': true,
  'dispute-lost': true,
  'payment-returned': true,
  'account-frozen': false,
  'account-unfrozen': false,
}

/** A notice for an address that nobody has proven: without what the holder of the account has written. */
export function withoutWords(notice: OwnerNotice): OwnerNotice {
  if (notice.kind === 'api-key-created') return { ...notice, label: null }
  if (notice.kind === 'site-added') return { ...notice, sites: [] }
  return notice.kind === 'new-device' ? { ...notice, userAgent: null } : notice
}

/**
 * The words of a notice. They never contain the account's name: whoever registers an address chooses it. What others have
 * chosen, such as a label, is quoted and cut.
 */
export function describeNotice(notice: OwnerNotice, site: string): NoticeText {
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
      return emailProven(notice.voidReason, site)
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
    case 'payee-added':
      return {
        subject: `A new bank account for your withdrawals from ${site}`,
        lines: [
          `A bank account that was not used before was named for a withdrawal from your account at ${site}.`,
        ],
        facts: bankFacts(notice.withdrawal),
        advice: [nothingToDo],
        security: true,
      }
    case 'withdrawal-requested':
      return {
        subject: `Your withdrawal from ${site}`,
        lines: [`A withdrawal from your account at ${site} was requested.`],
        facts: withdrawalFacts(notice.withdrawal),
        advice: [nothingToDo],
        security: true,
      }
    case 'withdrawal-paid':
      return {
        subject: `Your withdrawal from ${site} is paid`,
        lines: [`Your withdrawal from ${site} was paid to your bank.`],
        facts: withdrawalFacts(notice.withdrawal),
        advice: ['If you do not see it at your bank by tomorrow, reply to this e-mail with the reference.'],
        security: false,
      }
    case 'withdrawal-returned':
      return {
        subject: `Your withdrawal from ${site} came back`,
        lines: [`Your bank sent your withdrawal from ${site} back. The money is in your balance again.`],
        facts: withdrawalFacts(notice.withdrawal),
        advice: ['Check the bank account with your bank before you withdraw again.'],
        security: false,
      }
    case 'withdrawal-failed':
      return {
        subject: `Your withdrawal from ${site} failed`,
        lines: [`Your withdrawal from ${site} was not paid. The money is in your balance again.`],
        facts: [...withdrawalFacts(notice.withdrawal), ['Reason', quoteInMail(notice.reason)]],
        advice: ['You can withdraw again. If it fails again, reply to this e-mail with the reference.'],
        security: false,
      }
    case 'withdrawal-cancelled':
      return {
        subject: `Your withdrawal from ${site} is cancelled`,
        lines: [`You cancelled a withdrawal from ${site}. The money is in your balance again.`],
        facts: withdrawalFacts(notice.withdrawal),
        advice: [nothingToDo],
        security: true,
      }
    case 'refund-requested':
    case 'refund-paid':
    case 'refund-failed':
      return refundText(notice, site)
    case 'payout-wallet-set':
    case 'payout-wallet-removed':
    case 'tips-to-changed':
    case 'take-out-signed':
      return describeWalletNotice(notice, site)
    case 'dispute-opened':
    case 'dispute-won':
    case 'dispute-lost':
    case 'payment-returned':
      return paymentText(notice, site)
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

/** Enough to find the key in the list of keys. */
const prefixShown = 5

const setUpBySomebody = {
  elsewhere: 'The account was registered from another network, perhaps by somebody else.',
  'not-mine': 'When you signed in, you said that somebody else set up the account.',
} as const

function emailProven(
  reason: Extract<OwnerNotice, { readonly kind: 'email-proven' }>['voidReason'],
  site: string,
): NoticeText {
  const shown = `You have shown that this e-mail address is yours, at ${site}.`
  return {
    subject: `Your e-mail address is verified at ${site}`,
    lines:
      reason === undefined
        ? [shown]
        : [
            shown,
            `${setUpBySomebody[reason]} So its old password, sessions, API keys and second factors do not work any more.`,
          ],
    advice: reason === undefined ? [nothingToDo] : ['Set a new password in the settings.', nothingToDo],
    security: true,
  }
}

type FactorNotice = Extract<OwnerNotice, { readonly factor: FactorName }>

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

type RefundEvent = Extract<OwnerNotice, { readonly refund: RefundNotice }>

function refundText(notice: RefundEvent, site: string): NoticeText {
  const { tipId, amount, naira, debit } = notice.refund
  const facts: EmailFact[] = [
    ['Of the tip', amount],
    ['Payer gets', naira],
    ['Of your balance', debit],
    ['Tip', tipId],
  ]
  if (notice.kind === 'refund-failed')
    return {
      subject: `A tip could not be given back at ${site}`,
      lines: [
        `The payer did not get the tip back that you wanted to give back at ${site}. The money is in your balance again.`,
      ],
      facts: [...facts, ['Reason', quoteInMail(notice.reason)]],
      advice: ['You can try again. If it fails again, reply to this e-mail with the number of the tip.'],
      security: false,
    }
  const requested = notice.kind === 'refund-requested'
  return {
    subject: requested ? `You give a tip back at ${site}` : `A tip went back to its payer at ${site}`,
    lines: [
      requested
        ? `A tip to your account at ${site} is being given back to its payer. It goes only to where it came from.`
        : `The tip that you gave back at ${site} was sent to its payer, whose bank may need some days.`,
    ],
    facts,
    advice: [requested ? nothingToDo : 'You need not do anything.'],
    security: requested,
  }
}

type PaymentEvent = Extract<OwnerNotice, { readonly payment: PaymentNotice }>

function paymentText({ kind, payment }: PaymentEvent, site: string): NoticeText {
  const facts: EmailFact[] = [
    ['Payment', payment.naira],
    [kind === 'dispute-opened' ? 'Held' : 'Of your balance', payment.usdc],
    ...(payment.owed === undefined ? [] : [['Not covered yet', payment.owed] as const]),
    ['Tip', payment.tipId],
  ]
  const owing =
    payment.owed === undefined
      ? []
      : [
          'Your balance did not have all of it. The rest is taken from tips that arrive from now on, and withdrawals that are not sent yet wait until then. You can cancel them.',
        ]
  const dispute = 'the payer of a tip to you told their bank that they want the money back'
  if (kind === 'dispute-opened')
    return {
      subject: `A payment to you at ${site} is disputed`,
      lines: [
        `At ${site}, ${dispute}. We answer the bank, which decides. Until then we hold what the tip credited, up to what your balance has.`,
      ],
      facts,
      advice: [
        'If you know the payer, or gave something for this tip, reply to this e-mail soon and say so: we have less than a day to answer.',
      ],
      security: false,
    }
  if (kind === 'dispute-won')
    return {
      subject: `A payment to you at ${site} stays yours`,
      lines: [
        `At ${site}, ${dispute}. The bank has decided that it stays yours. What we held is in your balance again.`,
      ],
      facts,
      advice: ['You need not do anything.'],
      security: false,
    }
  return {
    subject: `A payment to you at ${site} went back to its payer`,
    lines: [
      kind === 'dispute-lost'
        ? `At ${site}, ${dispute}, and the bank has given it back. What the tip credited is taken from your balance, and we give up our fee of it.`
        : `At ${site}, a payment for a tip to you went back to its payer. What the tip credited is taken from your balance, and we give up our fee of it.`,
      ...owing,
    ],
    facts,
    advice: ['If you think that this is wrong, reply to this e-mail with the number of the tip.'],
    security: false,
  }
}

function bankFacts({ bank, lastFour }: WithdrawalNotice): EmailFact[] {
  return [['Bank account', `${quoteInMail(bank)} ${maskAccount(quoteInMail(lastFour))}`]]
}

function withdrawalFacts(withdrawal: WithdrawalNotice): EmailFact[] {
  return [['Amount', withdrawal.amount], ...bankFacts(withdrawal), ['Reference', withdrawal.reference]]
}
