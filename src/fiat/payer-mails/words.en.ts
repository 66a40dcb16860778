import type { Catalogue } from '../../kernel/catalogue.js'

/** Every text of the mails to payers. */
export const words = {
  seePayment: 'See this payment',
  statusPage: 'This page says at any time how your payment stands, and has a signed receipt once it is paid:',
  number: (id: string) => `The number of this payment is ${id}.`,
  noMistake: 'If you did not pay this, somebody entered your address by mistake; you need not do anything.',
  receipt: {
    subject: (given: string) => `Your tip of ${given}`,
    lead: (name: string) => `Thank you. Your payment for a tip to "${name}" has arrived:`,
    surplus: (paid: string, given: string, rest: string) =>
      `You paid ${paid}, and ${given} were asked for. The tip is ${given}; the other ${rest} wait for you. Reply to this e-mail to have them back, or to give them to the creator too.`,
    paid: 'Paid',
    message: 'Your message',
    reference: 'Reference',
    number: 'Number of this payment',
  },
  short: {
    subject: (arrived: string) => `Your payment of ${arrived} is less than the tip`,
    lead: (name: string, asked: string, at: string) =>
      `For a tip to "${name}" ${asked} were asked for, and on ${at}, this arrived:`,
    more: 'The tip is not complete, and your money is not lost. On the page below you can let the creator have it as it is, or have it sent back to you. The creator can decide, too, and the first decision counts. You can also make a new tip that is paid in full.',
  },
  refund: {
    subject: (back: string) => `${back} of your tip come back to you`,
    lead: (name: string, at: string) => `You gave a tip to "${name}" on ${at}, and they gave this back:`,
    more: 'It goes to the card or the bank account that you paid with. Banks need some days to show it. If you do not see it after ten working days, reply to this e-mail.',
  },
  disputeOpened: {
    subject: (amount: string) => `Your bank asks about your payment of ${amount}`,
    lead: (name: string) => `Your bank has told us that the payment for your tip to "${name}" is disputed:`,
    more: 'The bank decides, usually within some days. If you recognise the payment after all, tell your bank so.',
  },
  disputeWon: {
    subject: (amount: string) => `Your payment of ${amount} stands`,
    lead: (name: string) =>
      `The dispute about the payment for your tip to "${name}" has ended. The payment stands:`,
  },
  returned: {
    subject: (amount: string) => `Your payment of ${amount} goes back to you`,
    lead: (name: string) =>
      `The payment for your tip to "${name}" goes back to you, to the account or card that it came from:`,
    more: 'Banks need some days to show it.',
  },
} as const

export type PayerMailWords = Catalogue<typeof words>
