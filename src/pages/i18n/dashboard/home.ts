import { counted } from '../common.js'

export const homeWords = {
  balance: {
    title: 'Balance',
    available: 'Available',
    availableHint: 'You can withdraw this now',
    pending: 'Pending',
    pendingHint: 'Nearly there: crypto takes a few seconds, card payments a few days',
    held: 'On hold',
    heldHint: 'On its way to you, or a payer wants it back',
    withdraw: 'Withdraw',
  },
  setUp: {
    title: 'Set up',
    link: 'Choose your link',
    done: 'Done:',
    open: 'To do:',
    email: 'Confirm your e-mail, so that we can tell you about tips',
    verify: 'Send the code',
    verifyTitle: 'Confirm your e-mail address',
    confirmEmail: 'Confirm',
    wallet: 'Your wallet is ready',
    walletComing: 'Your wallet is being prepared…',
    receive: 'Choose what your tips arrive as',
    chooseReceive: 'Choose',
    alert: 'See a tip on your stream',
    tryAlert: 'Try an alert',
    ownSite: 'Have a website?',
    toSite: 'Take tips there, too',
  },
  handle: {
    label: 'Your handle',
    save: 'Save my link',
    refused: (handle: string, reason: string) => `“${handle}” ${reason}.`,
  },
  link: {
    title: 'Your link',
    name: 'your link',
    share: 'Share it',
    more: 'Picture, words, QR code',
    shared: 'Tip me',
  },
  receive: {
    title: 'What should your tips arrive as?',
    ways: { usdc: 'Dollars (USDC)', sent: 'The token that was sent' },
    effects: {
      usdc: 'Tips in other tokens are exchanged into USDC while they are sent. You can withdraw USDC to your bank.',
      sent: 'SOL and other tokens stay in your wallet as they are. Only USDC can be withdrawn to a bank, so the checkout preselects it.',
    },
    save: 'Use this',
    later: 'Decide later',
  },
  otherTokens: {
    title: 'Also in your wallet',
    worth: (amount: string) => `worth ${amount}`,
    effect:
      'Only USDC can be withdrawn to a bank; these tokens stay here until you take them out to your own wallet.',
    takeOut: 'Take them out',
    convert: 'To receive USDC from now on, turn on “Exchange everything into USDC”:',
    settings: 'Settings',
  },
  chart: {
    title: 'Tips per day',
    span: 'Period',
    days: (days: number) => `${days} days`,
    sum: (total: string, count: number) => `${total} from ${counted(count, 'tip', 'tips')}`,
    best: (day: string, value: string) => `Most on ${day}: ${value}.`,
    nothing: 'No tips in this time.',
    asTable: 'Show as table',
    asBars: 'Show as chart',
    today: 'Today',
    day: 'Day',
    tips: 'Tips',
    value: 'Value',
  },
  live: {
    title: 'Live',
    states: { on: 'Connected', off: 'Reconnecting', paused: 'Paused' },
    pause: 'Pause',
    resume: (waiting: number) =>
      waiting === 0 ? 'Go on' : `Go on, ${counted(waiting, 'new tip', 'new tips')}`,
    all: 'All tips',
    announcement: (fresh: number, spoken: string, sender: string) =>
      fresh === 1
        ? `New tip: ${spoken} from ${sender}`
        : `${fresh} new tips, the latest ${spoken} from ${sender}`,
  },
} as const
