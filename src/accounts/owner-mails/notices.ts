/** What the owner of an account is told by mail. The kind is also the kind of the e-mail's row. */
export type OwnerNotice =
  | { readonly kind: 'new-device'; readonly network: string; readonly userAgent: string | null }
  | { readonly kind: 'email-proven'; readonly credentialsVoid: boolean }
  | { readonly kind: 'password-changed' }
  | { readonly kind: 'email-change-requested' | 'email-changed'; readonly newEmail: string }
  | { readonly kind: 'factor-added' | 'factor-removed'; readonly factor: string }
  | { readonly kind: 'api-key-created'; readonly prefix: string; readonly label: string | null }
  | { readonly kind: 'site-added'; readonly site: string }
  | { readonly kind: 'payee-added' | 'withdrawal-requested'; readonly withdrawal: WithdrawalNotice }
  | { readonly kind: 'withdrawal-paid' | 'withdrawal-returned'; readonly withdrawal: WithdrawalNotice }
  | { readonly kind: 'withdrawal-failed'; readonly withdrawal: WithdrawalNotice; readonly reason: string }
  | { readonly kind: 'account-frozen' }

export interface WithdrawalNotice {
  readonly reference: string
  /** Such as `NGN 12,500.00`. */
  readonly amount: string
  readonly bank: string
  readonly lastFour: string
}

interface NoticeText {
  readonly subject: string
  readonly lines: readonly string[]
  /** A thief could have done it: the mail has the link that freezes the account. */
  readonly security: boolean
}

/** The words of a notice. They never contain the account's name: whoever registers an address chooses it. */
export function describeNotice(notice: OwnerNotice, site: string): NoticeText {
  switch (notice.kind) {
    case 'new-device':
      return {
        subject: `A new device signed in to ${site}`,
        lines: [
          `A browser that has not been used with your account before signed in to ${site}: ${notice.userAgent ?? 'unknown browser'}, from ${notice.network}.`,
        ],
        security: true,
      }
    case 'email-proven':
      return {
        subject: `Your e-mail address is verified at ${site}`,
        lines: notice.credentialsVoid
          ? [
              `You have shown that this e-mail address at ${site} is yours. Somebody else may have registered it, from another network.`,
              'So the password, the sessions and the API keys made before do not work any more. Set a new password in the settings.',
            ]
          : [`You have shown that this e-mail address at ${site} is yours.`],
        security: true,
      }
    case 'password-changed':
      return {
        subject: `Your password at ${site} was changed`,
        lines: [`The password of your account at ${site} was changed.`],
        security: true,
      }
    case 'email-change-requested':
      return {
        subject: `A new e-mail address for your account at ${site}`,
        lines: [
          `Somebody, most likely you, wants to change the e-mail address of your account at ${site} to ${notice.newEmail}. It changes when the link mailed there is used.`,
        ],
        security: true,
      }
    case 'email-changed':
      return {
        subject: `Your e-mail address at ${site} was changed`,
        lines: [`The e-mail address of your account at ${site} is now ${notice.newEmail}.`],
        security: true,
      }
    case 'factor-added':
    case 'factor-removed': {
      const done = notice.kind === 'factor-added' ? 'added to' : 'removed from'
      return {
        subject: `${notice.factor} ${done} your account at ${site}`,
        lines: [`${notice.factor} was ${done} your account at ${site}.`],
        security: true,
      }
    }
    case 'api-key-created':
      return {
        subject: `A new API key at ${site}`,
        lines: [
          `An API key was made for your account at ${site}: ${[notice.prefix, notice.label].filter(Boolean).join(', ')}.`,
        ],
        security: true,
      }
    case 'site-added':
      return {
        subject: `A new site for your tips at ${site}`,
        lines: [`The site ${notice.site} may now show the checkout of your account at ${site}.`],
        security: true,
      }
    case 'payee-added':
      return {
        subject: `A new bank account at ${site}`,
        lines: [`${accountOf(notice.withdrawal)} was added to your account at ${site}.`],
        security: true,
      }
    case 'withdrawal-requested':
      return withdrawalText(notice.withdrawal, {
        subject: `Your withdrawal from ${site}`,
        verb: 'was requested',
        security: true,
      })
    case 'withdrawal-paid':
      return withdrawalText(notice.withdrawal, {
        subject: `Your withdrawal from ${site} is paid`,
        verb: 'was paid',
        security: false,
      })
    case 'withdrawal-returned':
      return withdrawalText(notice.withdrawal, {
        subject: `Your withdrawal from ${site} came back`,
        verb: 'came back from the bank, and is in your balance again',
        security: false,
      })
    case 'withdrawal-failed': {
      const text = withdrawalText(notice.withdrawal, {
        subject: `Your withdrawal from ${site} failed`,
        verb: 'was not paid, and is in your balance again',
        security: false,
      })
      return { ...text, lines: [...text.lines, `The reason: ${notice.reason}`] }
    }
    case 'account-frozen':
      return {
        subject: `Your account at ${site} is frozen`,
        lines: [
          `Your account at ${site} is frozen: everybody is signed out, and nothing can be withdrawn or changed. Tips still arrive. Reply to this e-mail to have it unfrozen.`,
        ],
        security: false,
      }
  }
}

function accountOf({ bank, lastFour }: WithdrawalNotice): string {
  return `The account ${bank} ******${lastFour}`
}

function withdrawalText(
  { amount, bank, lastFour, reference }: WithdrawalNotice,
  {
    subject,
    verb,
    security,
  }: { readonly subject: string; readonly verb: string; readonly security: boolean },
): NoticeText {
  return {
    subject,
    lines: [`A withdrawal of ${amount} to ${bank} ******${lastFour} ${verb}. Its reference is ${reference}.`],
    security,
  }
}
