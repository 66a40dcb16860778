import { counted } from './counted.js'

/** Texts of Tips. */
export const tipsWords = {
  tips: {
    tipped: 'tipped',
    crypto: 'Crypto',
    naira: 'Naira',
    none: 'No tips yet. They start when the checkout is on your site.',
    noneCheckout: 'Put the checkout on your site',
    noneOverlay: 'Set up the overlay',
    nothingFound: 'No tip fits these filters.',
    clear: 'Clear the filters',
    searchedSince: (moment: string) =>
      `The search went back to ${moment}. Older tips were not searched; with a token or a status chosen, the search goes back further.`,
    more: 'Show more',
    count: (count: number, more: boolean) => `${counted(count, 'tip', 'tips')}${more ? ' and more' : ''}`,
  },
  filters: {
    search: 'Search messages and senders',
    token: 'token',
    status: 'status',
    period: 'period',
    naira: 'Naira',
    all: (what: string) => `Any ${what}`,
  },
  tip: {
    title: (paid: string) => `Tip of ${paid}`,
    from: 'From',
    unpaidFrom: 'Shown once the tip is paid',
    value: 'Value',
    received: 'You received',
    paidNgn: 'Paid',
    askedNgn: 'Asked for',
    fee: 'Fee',
    recorded: 'Recorded',
    signature: 'Transaction',
    reference: 'Reference',
    explorer: 'View the transaction',
    timeline: {
      recorded: 'Recorded',
      pending: 'Waiting for the payment',
      confirmed: 'Confirmed',
      failed: 'Could not be completed',
      cancelled: 'Time was over before a payment came',
    },
  },
} as const
