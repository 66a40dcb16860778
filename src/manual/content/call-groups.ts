interface Group {
  readonly id: string
  readonly title: string
  readonly about: string
  readonly paths: RegExp
}

/** In the order in which a new reader needs them. The chapters of the manual, and the tags of the OpenAPI document. */
export const groups: readonly [Group, ...Group[]] = [
  {
    id: 'accounts',
    title: 'Accounts',
    about: 'Register, log in, and read your account. Every account can receive tips as a creator.',
    paths: /^\/auth\//,
  },
  {
    id: 'sdk',
    title: 'SDK',
    about:
      'Tips on your own site: your backend opens a session, your page tips with it, your backend reads the events.',
    paths: /^\/(sdk|pay)\//,
  },
  {
    id: 'crypto-tips',
    title: 'Crypto tips',
    about:
      'The service builds a transaction, the supporter’s wallet signs and submits it, and the service verifies it on the chain.',
    paths: /^\/(payments\/intent|chain\/)/,
  },
  {
    id: 'naira-tips',
    title: 'Naira tips',
    about: 'Paid by card or bank transfer, credited in USDC.',
    paths: /^\/payments\/fiat\//,
  },
  {
    id: 'money',
    title: 'Balance and withdrawals',
    about:
      'The creator’s balance, withdrawals to a Nigerian bank account, and take-outs to a wallet of their own.',
    paths: /^\/(payouts\/|creators\/(balance|transactions|banks|bank-accounts|wallet))/,
  },
  {
    id: 'creators',
    title: 'Creator settings',
    about: 'Profile, API keys and the sites that may embed the checkout. The dashboard uses these calls.',
    paths: /^\/creators\//,
  },
  { id: 'other-calls', title: 'Other calls', about: 'Calls that belong to no other group.', paths: /^/ },
]

/** A call belongs to the first group whose `paths` match; the last matches all. */
export function groupOf(path: string): Group {
  return groups.find(({ paths }) => paths.test(path)) ?? groups[0]
}
