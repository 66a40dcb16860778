import { counted } from '../common.js'

export const tipsWords = {
  tips: {
    tipped: 'tipped',
    crypto: 'Crypto',
    naira: 'Naira',
    none: 'No tips yet. Share your link, and the first one shows up here by itself.',
    noneLink: 'Get your link',
    noneOverlay: 'Set up the overlay',
    nothingFound: 'No tip fits these filters.',
    clear: 'Clear the filters',
    searchedSince: (moment: string) =>
      `The search went back to ${moment}. Older tips were not searched; with a token or a status chosen, the search goes back further.`,
    more: 'Show more',
    fromOne: 'Tips from',
    fromAll: 'Show everybody’s',
    statement: 'Statement of a year',
    count: (count: number, more: boolean) => `${counted(count, 'tip', 'tips')}${more ? ' and more' : ''}`,
  },
  refund: {
    title: 'Give it back',
    open: 'Give it back…',
    given: (amount: string) => `${amount} given back`,
    amount: 'How much (naira)',
    left: (amount: string) => `At most ${amount}, all that is left of this tip`,
    effect: (leaves: string, naira: string) =>
      `About ${leaves} leave your balance now: what you got for it, or what these naira cost today if that is more. ${naira} go to the card or account that paid; that can take some days and can’t be called back.`,
    missing: (available: string, missing: string) =>
      `You have ${available}, so ${missing} are missing. Give back less, or wait for more tips.`,
    submit: (amount: string) => `Give back ${amount}`,
    keep: 'Keep the tip',
    checking: 'We’re checking what happened. Don’t start again.',
    checkingMore:
      'No answer came back. We ask about this same refund until there is one; it can’t happen twice.',
    parts: (dollars: string, naira: string) => `${dollars} (${naira})`,
    results: {
      pending: (debit: string) =>
        `On its way to the payer; this can take some days. ${debit} left your balance for it. We mail you how it ended.`,
      paid: (debit: string) => `The payer has it. ${debit} left your balance for it.`,
      failed: (debit: string) => `It wasn’t paid. ${debit} are in your balance again.`,
    },
    disputed: 'The payer disputes this tip.',
    disputedMore: (until: string | undefined) =>
      `They asked their bank for the money back. Until the bank has decided, what this tip brought you is on hold, and it can’t be given back here. ${
        until === undefined
          ? 'You needn’t do anything: it is too late to tell the bank more.'
          : `If you know the payer, or gave something for this tip, reply to the mail that we sent you by ${until}, and say so: we tell the bank. Otherwise you needn’t do anything.`
      } If you win, the money is free again; if you lose, it goes back.`,
    isDisputed: 'Disputed',
  },
  short: {
    title: 'What arrived',
    marks: {
      waiting: (arrived: string) => `Only ${arrived} arrived`,
      going_back: (arrived: string) => `${arrived} on the way back`,
      given_back: (arrived: string) => `${arrived} given back`,
    },
    more: {
      waiting: (missing: string) =>
        `${missing} are missing, so this tip isn’t in your balance yet. Take what arrived as it is, or give it back to the account that paid it.`,
      going_back: () => 'The payer gets it back; this can take some days.',
      given_back: () => 'The payer has it again.',
    },
    accept: (arrived: string) => `Take the ${arrived}`,
    giveBack: 'Give it back',
  },
  claims: {
    owed: (amount: string) => `You owe ${amount}.`,
    owedMore:
      'Naira of a tip went back to the payer after you had spent them. You needn’t do anything: your next tips pay this first, by themselves. Until then you can’t take tokens out to your own wallet.',
    disputed: (amount: string) => `Payers dispute tips that brought you ${amount}.`,
    disputedMore:
      'They asked their banks for the money back. Until the banks have decided, as much of your balance is on hold, as far as there is any. Each disputed tip, in the list of tips, says until when you can tell us what it was for; otherwise you needn’t do anything. If you win, it is free again; if you lose, it goes back.',
  },
  filters: {
    search: 'Search messages, senders and references',
    token: 'token',
    status: 'status',
    period: 'period',
    naira: 'Naira',
    all: (what: string) => `Any ${what}`,
  },
  tip: {
    title: (paid: string) => `Tip of ${paid}`,
    from: 'From',
    history: 'All tips from them',
    unpaidFrom: 'Shown once the tip is paid',
    value: 'Value',
    received: 'You received',
    paidNgn: 'Paid',
    askedNgn: 'Asked for',
    fee: 'Fee',
    recorded: 'Recorded',
    signature: 'Transaction',
    reference: 'Reference',
    yours: 'Your reference',
    explorer: 'View the transaction',
    toWallet:
      'Paid straight to your own wallet: it isn’t in your balance here and can’t be withdrawn as naira.',
    givenBack: 'Given back',
    timeline: {
      pending: 'Waiting for the payment',
      confirmed: 'Confirmed',
      failed: 'Could not be completed',
      cancelled: 'Time was over before a payment came',
    },
  },
} as const
