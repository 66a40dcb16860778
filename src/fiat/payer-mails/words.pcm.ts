import type { PayerMailWords } from './words.en.js'

/** Nigerian Pidgin. No native speaker has read it yet. */
export const words: PayerMailWords = {
  seePayment: 'See dis payment',
  statusPage:
    'Dis page go show you anytime how your payment dey go, and e go get signed receipt once e don pay:',
  number: (id) => `The number of dis payment na ${id}.`,
  noMistake: 'If no be you pay dis one, somebody put your address by mistake; you no need do anything.',
  receipt: {
    subject: (given) => `The tip of ${given} wey you dash`,
    lead: (name) => `Thank you. Your payment to dash "${name}" don land:`,
    surplus: (paid, given, rest) =>
      `You pay ${paid}, but na ${given} we ask for. The tip na ${given}; the remaining ${rest} dey wait for you. Reply dis e-mail to collect am back, or to give the creator join.`,
    paid: 'When you pay',
    message: 'Your message',
    reference: 'Reference',
    number: 'Number of dis payment',
  },
  short: {
    subject: (arrived) => `Your payment of ${arrived} no reach the tip`,
    lead: (name, asked, at) => `To dash "${name}" we ask for ${asked}, and on ${at}, na dis one land:`,
    more: 'The tip never complete, and your money no lost. For the page below you fit make the creator take am like that, or make dem send am back give you. The creator fit decide too, and na the first decision go count. You fit also make new tip wey you go pay complete.',
  },
  refund: {
    subject: (back) => `${back} of your tip dey come back to you`,
    lead: (name, at) => `You dash "${name}" on ${at}, and dem give you dis one back:`,
    more: 'E dey go the card or the bank account wey you use pay. Bank dey take some days to show am. If you no see am after ten working days, reply dis e-mail.',
  },
  disputeOpened: {
    subject: (amount) => `Your bank dey ask about your payment of ${amount}`,
    lead: (name) => `Your bank don tell us say dem dey dispute the payment for your tip to "${name}":`,
    more: 'The bank go decide, most times within some days. If you come remember say na you pay am, tell your bank.',
  },
  disputeWon: {
    subject: (amount) => `Your payment of ${amount} still stand`,
    lead: (name) =>
      `The dispute about the payment for your tip to "${name}" don end. The payment still stand:`,
  },
  returned: {
    subject: (amount) => `Your payment of ${amount} dey go back to you`,
    lead: (name) =>
      `The payment for your tip to "${name}" dey go back to you, to the account or card wey e come from:`,
    more: 'Bank dey take some days to show am.',
  },
}
