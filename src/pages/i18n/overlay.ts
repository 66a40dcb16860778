import { shortUsd } from '../lib/money.js'

export const words = {
  noWallet: 'This overlay needs a wallet: copy its address from the dashboard.',
  badWallet: 'There is no such wallet. Copy the overlay’s address from the dashboard again.',
  badToken: 'This address has ended. Copy the overlay’s address from the dashboard again.',
  more: (count: number, usd: number) =>
    `+${count} more ${count === 1 ? 'tip' : 'tips'}${usd > 0 ? `, ${shortUsd(Math.round(usd))}` : ''}`,
  sampleSender: 'Tobi',
  sampleMessage: 'Great show! Greetings from Lagos.',
  noGoal: 'There is no goal yet: set one on your page in the dashboard.',
  raised: (raised: number, goal: number) => `${shortUsd(raised)} of ${shortUsd(goal)}`,
  top: 'Top supporters',
  latest: 'Latest tips',
  nothing: 'No tips yet',
} as const
