import type { Said, StatusWords } from './words.en.js'

const once = 'No pay am two times.'
const paid = {
  title: 'You don pay. Thank you!',
  lead: ({ name, amount }: Said) => `${name} don get your tip of ${amount}.`,
}
const wentBack = ({ back }: Said): string =>
  `${back} don go back to the card or account wey pay. Bank dey take some days to show am.`
const comesBack = ({ back }: Said): string =>
  `${back} dey go back to the card or account wey pay. Bank dey take some days to show am.`
const partly = 'Dem don give you back part of your tip'
const unseen = ['If you no see am after ten working days, write to the address below.'] as const

/** Nigerian Pidgin. No native speaker has read it yet. */
export const words: StatusWords = {
  theCreator: 'The creator',
  naira: {
    waiting: {
      title: ({ amount }) => `We dey wait for ${amount}`,
      lead: ({ until }) => `Money never land. You fit pay until ${until}.`,
      more: [`You don pay already? E fit take some minutes. ${once}`],
    },
    seen: {
      title: 'Your payment don go',
      lead: 'The network dey decide am. E dey take some seconds.',
      more: [once],
    },
    late: {
      title: 'Time to pay don finish',
      lead: ({ amount }) => `${amount} never land.`,
      more: [
        ({ watchDays }) =>
          `You don pay already? Then wait: we go dey find your payment for ${watchDays} days, and e go count once e land. ${once}`,
        'You never pay? No use dis account number again. Go back to the page, start again.',
      ],
    },
    underpaid: {
      title: ({ arrived }) => `Only ${arrived} land`,
      lead: ({ amount, name }) =>
        `We ask for ${amount}. Your money no lost. Decide wetin go happen to am, or wait: ${name} fit decide too.`,
      more: [
        ({ name }) =>
          `If you wan pay the balance, make ${name} take dis part, then go back to the page, dash the balance.`,
      ],
    },
    failed: {
      title: 'Dis payment no complete',
      lead: 'No money land.',
      more: [
        'If your bank show debit, ask your bank first: most times the money dey come back by itself. After that, write to the address below with the number of dis payment.',
      ],
    },
    paid,
    overpaid: {
      ...paid,
      more: [
        ({ surplus }) =>
          `You pay ${surplus} pass wetin we ask for. E dey wait for you: write to the address below to collect am back, or to give the creator join.`,
      ],
    },
    disputed: {
      title: 'Your bank dey ask about dis payment',
      lead: ({ amount }) =>
        `Dem don pay the tip of ${amount}, and somebody tell the bank say dem want the money back. The bank go decide, most times within some days.`,
      more: ['If you come remember say na you pay am, tell your bank.'],
    },
    'partly-refunding': { title: partly, lead: comesBack },
    'partly-refunded': { title: partly, lead: wentBack },
    refunding: { title: 'Your money dey go back to you', lead: comesBack, more: unseen },
    refunded: { title: 'Your money don go back to you', lead: wentBack, more: unseen },
  },
  crypto: {
    waiting: {
      title: ({ amount }) => `We dey wait for ${amount}`,
      lead: 'You never pay anything: gree for am inside your wallet.',
      more: ['Dis price go remain like one minute. After that, go back to the page, start again.'],
    },
    late: {
      title: 'We never see any payment before time finish',
      lead: 'Check your wallet before you pay again.',
      more: [
        'If your wallet show say e don go, wait some minutes: we dey find am for the chain. If not, go back to the page, start again.',
      ],
    },
    underpaid: {
      title: 'Wetin land no reach wetin dis tip ask for',
      lead: ({ name, received = 'am' }) => `${name} get ${received} and go keep am, as smaller tip.`,
      more: [({ name }) => `No pay the balance here. If you get another question, ask ${name}.`],
    },
    failed: {
      title: 'Dis payment no go through',
      lead: 'E no reach the creator the way we ask for am.',
      more: ['Your wallet go show wetin happen to am. If you wan dash, go back to the page, start again.'],
    },
  },
  facts: {
    to: 'For',
    paid: 'You don pay',
    askedFor: 'We ask for',
    received: 'The creator don get',
    afterFee: (received) => `${received}, after we comot our fee`,
    givenBack: 'Wetin go back',
    when: 'When',
    bank: 'Bank',
    accountNumber: 'Account number',
    accountName: 'Account name',
    message: 'Your message',
    reference: 'Reference',
    number: 'Number',
    transaction: 'Transaction',
  },
  decide: { accept: 'Make dem take am as smaller tip', 'give-back': 'Send am back give me' },
  undecided: {
    title: 'We no fit decide dis one now',
    lead: 'Nothing don change, and your money no lost. Try again later, or write to the address below with the number of dis payment.',
  },
  payNow: 'Pay now',
  checkReceipt: 'Check the receipt',
  signedReceipt: 'Receipt wey dem sign (JSON)',
  reply: 'You get question? Reply the mail about dis payment.',
  writeTo: (contact) => `You get question? Write to ${contact}.`,
  keepIt: 'Anybody wey get the address of dis page fit see am: keep am for yourself.',
  missing: {
    title: 'No payment dey for dis address',
    lead: 'E fit be say part of the address no dey. Copy everything from your receipt or from the page where you pay.',
  },
}
