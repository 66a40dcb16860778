import type { Catalogue } from '../kernel/catalogue.js'

/** What the texts name, as people read it. */
export interface Said {
  readonly amount: string
  readonly name: string
  /** What arrived of an unpaid tip. */
  readonly arrived: string
  /** What arrived beyond a paid one. */
  readonly surplus: string
  /** What the creator got. Undefined: it is not known. */
  readonly received: string | undefined
  /** What goes back to the payer. */
  readonly back: string
  readonly until: string
  readonly watchDays: number
}

const once = 'Do not pay a second time.'
const paid = {
  title: 'Paid. Thank you!',
  lead: ({ name, amount }: Said) => `${name} has your tip of ${amount}.`,
} as const
const wentBack = ({ back }: Said): string =>
  `${back} went back to the card or account that paid. Banks need some days to show it.`
const comesBack = ({ back }: Said): string =>
  `${back} are on their way back to the card or account that paid. Banks need some days to show it.`
const partly = 'A part of your tip was given back'
const unseen = ['If you do not see it after ten working days, write to the address below.'] as const

/** Every text of a payment's page. `title`: what is the case. `lead`: what it means. `more`: what to do. */
export const words = {
  theCreator: 'The creator',
  naira: {
    waiting: {
      title: ({ amount }: Said) => `Waiting for ${amount}`,
      lead: ({ until }: Said) => `Nothing has arrived yet. Pay until ${until}.`,
      more: [`Paid already? It can take a few minutes. ${once}`],
    },
    seen: {
      title: 'Your payment was sent',
      lead: 'The network is deciding about it. That usually takes a few seconds.',
      more: [once],
    },
    late: {
      title: 'The time to pay is over',
      lead: ({ amount }: Said) => `${amount} have not arrived.`,
      more: [
        ({ watchDays }: Said) =>
          `Paid already? Then wait: we look for your payment for ${watchDays} days, and it counts when it arrives. ${once}`,
        'Not paid? Do not use this account number any more. Go back to the page and start again.',
      ],
    },
    underpaid: {
      title: ({ arrived }: Said) => `Only ${arrived} arrived`,
      lead: ({ amount, name }: Said) =>
        `${amount} were asked for. Your money is not lost. Decide what becomes of it, or wait: ${name} can decide, too.`,
      more: [
        ({ name }: Said) =>
          `To pay the rest, let ${name} have this part, then go back to the page and tip the rest.`,
      ],
    },
    failed: {
      title: 'This payment could not be completed',
      lead: 'No money has arrived.',
      more: [
        'If your bank shows a debit, ask your bank first: it usually comes back by itself. Then write to the address below with the number of this payment.',
      ],
    },
    paid,
    overpaid: {
      ...paid,
      more: [
        ({ surplus }: Said) =>
          `You paid ${surplus} more than was asked for. It waits for you: write to the address below to have it back, or to give it to the creator too.`,
      ],
    },
    disputed: {
      title: 'Your bank is asking about this payment',
      lead: ({ amount }: Said) =>
        `The tip of ${amount} was paid, and somebody told the bank that they want the money back. The bank decides, usually within some days.`,
      more: ['If you recognise the payment after all, tell your bank so.'],
    },
    'partly-refunding': { title: partly, lead: comesBack },
    'partly-refunded': { title: partly, lead: wentBack },
    refunding: { title: 'Your money is on its way back', lead: comesBack, more: unseen },
    refunded: { title: 'Your money went back', lead: wentBack, more: unseen },
  },
  /** Where a tip in crypto stands otherwise. */
  crypto: {
    waiting: {
      title: ({ amount }: Said) => `Waiting for ${amount}`,
      lead: 'Nothing was paid yet: approve it in your wallet.',
      more: ['The price holds for about a minute. After that, go back to the page and start again.'],
    },
    late: {
      title: 'No payment was seen in time',
      lead: 'Look in your wallet before you pay again.',
      more: [
        'If your wallet shows it as sent, wait a few minutes: we find it on the chain. Otherwise go back to the page and start again.',
      ],
    },
    underpaid: {
      title: 'Less arrived than this tip asked for',
      lead: ({ name, received = 'it' }: Said) =>
        `${name} received ${received} and keeps it, as a smaller tip.`,
      more: [({ name }: Said) => `Do not pay the rest here. For anything else, ask ${name}.`],
    },
    failed: {
      title: 'This payment did not go through',
      lead: 'It did not reach the creator as it was asked for.',
      more: ['Your wallet shows what became of it. To tip, go back to the page and start again.'],
    },
  },
  facts: {
    to: 'To',
    paid: 'Paid',
    askedFor: 'Asked for',
    received: 'The creator got',
    afterFee: (received: string) => `${received}, after our fee`,
    givenBack: 'Given back',
    when: 'When',
    bank: 'Bank',
    accountNumber: 'Account number',
    accountName: 'Account name',
    message: 'Your message',
    reference: 'Reference',
    number: 'Number',
    transaction: 'Transaction',
  },
  decide: { accept: 'Let them have it as a smaller tip', 'give-back': 'Send it back to me' },
  undecided: {
    title: 'This cannot be decided now',
    lead: 'Nothing has changed, and your money is not lost. Try again later, or write to the address below with the number of this payment.',
  },
  payNow: 'Pay now',
  checkReceipt: 'Check the receipt',
  signedReceipt: 'Signed receipt (JSON)',
  reply: 'Questions? Reply to the mail about this payment.',
  writeTo: (contact: string) => `Questions? Write to ${contact}.`,
  keepIt: 'Whoever has the address of this page can see it: keep it to yourself.',
  missing: {
    title: 'There is no payment at this address',
    lead: 'A part of the address may be missing. Copy it whole from your receipt or from the page where you paid.',
  },
} as const

export type StatusWords = Catalogue<typeof words>
