import { counted } from '../common.js'

export const homeWords = {
  balance: {
    title: 'Balance',
    available: 'Available',
    availableHint: 'USDC you can withdraw now',
    pending: 'Pending',
    pendingHint: 'Not yours to withdraw yet: for 15 seconds on the chain, for some days when a card paid',
    held: 'On hold',
    heldHint: 'On its way out, or disputed',
    withdraw: 'Withdraw',
  },
  setUp: {
    title: 'Set up',
    done: 'Done:',
    open: 'To do:',
    email: 'Confirm your e-mail address',
    verify: 'Send the code',
    verifyTitle: 'Confirm your e-mail address',
    confirmEmail: 'Confirm',
    wallet: 'Your wallet is ready',
    walletComing: 'Your wallet is being prepared…',
    walletAddress: 'wallet address',
    receive: 'Choose what your tips arrive as',
    chooseReceive: 'Choose',
    key: 'Make your first API key',
    makeKey: 'Make a key',
    overlay: 'Add the overlay to OBS',
    addOverlay: 'Get its address',
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
