import { ngn } from '../../lib/money.js'

export const withdrawWords = {
  withdraw: {
    steps: { amount: 'Amount', bank: 'Bank', review: 'Review', progress: 'Progress' },
    titles: {
      amount: 'How much?',
      bank: 'To which account?',
      review: 'Check and confirm',
      sending: 'Asking for your withdrawal',
      checking: 'We’re checking what happened',
      accepted: 'On its way',
      refused: 'Not withdrawn',
    },
    available: (amount: string) => `${amount} available`,
    currency: 'Currency',
    currencies: { USDC: 'Dollars (USDC)', NGN: 'Naira (₦)' },
    amount: (currency: 'USDC' | 'NGN') => (currency === 'USDC' ? 'Amount in dollars' : 'Amount in naira'),
    max: 'Max',
    about: (amount: string) => `About ${amount} will reach your bank.`,
    feeHint: ({ leastFeeNgn, feeBps }: { readonly leastFeeNgn: number; readonly feeBps: number }) =>
      `Fee ${feeBps / 100} %, at least ${ngn(leastFeeNgn)}.`,
    nothingWithdrawn: 'Nothing was withdrawn.',
    sending: 'Asking for your withdrawal…',
    sendingMore: 'This takes a few seconds.',
    checking: 'We’re checking what happened. Don’t start again.',
    checkingMore:
      'No answer came back. We ask about this same withdrawal until there is one; it can’t be paid twice.',
    unknown: 'An earlier withdrawal got no answer. Look for it in the list below before you start another.',
    refused: 'The bank’s side refused this withdrawal:',
    unchanged: 'Your balance is unchanged.',
    otherAccount: 'Use another account',
    restart: 'Start again',
  },
  bank: {
    bank: 'Bank',
    used: 'Bank account',
    another: 'Another account',
    search: 'Type to search',
    none: 'No bank with this name',
    number: 'Account number',
    numberHint: 'Ten digits (NUBAN)',
    asking: 'Asking the bank whose account this is…',
    matches: 'Matches your name.',
    differs: (name: string) =>
      `This doesn’t look like your name, ${name}. Money sent to somebody else’s account can’t be called back.`,
    name: 'Name of the account',
    nameHints: {
      unknown: 'The bank can’t be asked right now. Write the name exactly as the bank knows it.',
      unverified:
        'We ask the bank once your e-mail address is confirmed (Home, Set up). Until then write the name exactly as the bank knows it.',
    },
  },
  review: {
    withdraw: 'You withdraw',
    rate: 'Rate',
    perDollar: (rate: string) => `${rate} for $1`,
    noRate: 'No rate right now',
    fee: 'Fee',
    receive: 'You receive',
    to: 'To',
    rateHint: 'The rate is locked when you confirm.',
    held: (single: string, daily: string) =>
      `Above ${single}, or ${daily} together within 24 hours, we verify you once before we send. It may take a little longer.`,
    confirm: (amount: string) => `Withdraw ${amount}`,
  },
  progress: {
    stages: {
      pending: 'Requested',
      submitted: 'Sent',
      processing: 'Bank is transferring',
      completed: 'Paid',
    },
    heads: {
      pending: (amount: string) => `${amount} requested`,
      submitted: (amount: string) => `${amount} sent`,
      processing: (amount: string) => `The bank is transferring ${amount}`,
      completed: (amount: string, name: string) => `${amount} paid to ${name}`,
      failed: (amount: string) => `${amount} were not paid`,
    },
    cancelled: (amount: string) => `Withdrawal of ${amount} cancelled`,
    moneyBack: 'You cancelled this withdrawal. The money is in your balance again.',
    held: 'We need to verify you first.',
    heldMore: (single: string, daily: string) =>
      `Withdrawals above ${single} (or ${daily} in a day) are checked once. Your money is reserved; nothing is lost. We’ve e-mailed you: reply to that e-mail, and we tell you what we need to see.`,
    confirm: 'Confirm this withdrawal',
    onHold: 'On hold',
    onHoldMore:
      'We’re looking at this withdrawal. Your money is reserved; nothing is lost. We e-mail you when it goes on.',
    waitsTurn:
      'Many withdrawals go out at the moment, so this one waits its turn. Your money is reserved; nothing is lost. It is sent by itself, and we e-mail you when it is paid.',
    missing: 'There is no such withdrawal',
    reference: 'Reference',
    another: 'Make another withdrawal',
  },
  confirmation: {
    why: (amount: string, account: string) => `${amount} to ${account}. Is it you? Then confirm it.`,
    mailed:
      'We’ve e-mailed you six digits; they work for ten minutes. After a change of your e-mail address they go to the old one for 72 hours.',
    mailedAgain: 'We’ve e-mailed you new digits. The old ones no longer work.',
    submit: 'Confirm',
    app: 'Use my authenticator app',
    mail: 'Use the e-mailed code',
    young: 'An app or passkey counts here from 72 hours after it was added.',
    youngStepUp:
      'An app or passkey counts here from 72 hours after it was added, and not within 72 hours of a change of your e-mail or of one of them.',
  },
  cancelling: {
    open: 'Cancel this withdrawal',
    title: 'Cancel this withdrawal?',
    effect: (amount: string) => `Nothing is sent, and ${amount} goes back to your balance.`,
    submit: 'Cancel the withdrawal',
    keep: 'Keep it',
  },
  payees: {
    title: 'Bank accounts',
    lead: 'Withdrawals to one that was confirmed go out without a code, unless your e-mail, a second factor, or your device and network are new.',
    used: (ago: string) => `last used ${ago}`,
    unconfirmed: 'not confirmed yet',
    remove: 'Remove',
    removeWhat: (what: string) => `Remove ${what}`,
    question: (what: string) => `Remove ${what}?`,
    effect:
      'The next withdrawal to this account asks for a code again. Withdrawals that are on their way go on.',
    removed: (what: string) => `${what} removed`,
  },
  history: {
    title: 'Withdrawals',
    to: 'to',
    less: (promised: string) => `Less than the ${promised} promised: the rate fell while we verified you.`,
  },
} as const
