import { serviceName } from '../../../kernel/brand.js'
import { faults } from './faults.js'

/** Texts of the page around the screens, and of controls that many have. */
export const frameWords = {
  brand: serviceName,
  loading: 'Loading…',
  nav: 'Dashboard',
  next: 'Next',
  back: 'Back',
  close: 'Close',
  cancel: 'Cancel',
  tryAgain: 'Try again',
  signOut: 'Sign out',
  aboutNgn: (amount: string) => `about ${amount}`,
  connection: {
    offline: 'You’re offline. What you typed is still there; the page goes on when the connection is back.',
    unreachable: 'The service isn’t answering, or only in part. Nothing is lost; the page keeps trying.',
    back: 'The connection is back.',
  },
  unavailable: 'The service isn’t answering. Nothing is lost; the page keeps trying.',
  fault: (code: string) => faults[code] ?? 'Something went wrong. Try again.',
  screens: {
    home: 'Home',
    tips: 'Tips',
    withdraw: 'Withdraw',
    overlay: 'Overlay',
    developers: 'Developers',
    security: 'Security',
    settings: 'Settings',
  },
  frozen: {
    title: 'Your account is frozen',
    stops: 'Nothing can be changed or withdrawn, by anybody.',
    works: 'Tips still arrive and your money stays yours. You can sign in, read everything and end sessions.',
    remedy: 'To unfreeze it, reply to one of our e-mails.',
  },
  session: {
    ended: 'Your session has ended',
    kept: 'Sign in again to go on. What you typed is still there.',
  },
  shortcuts: {
    title: 'Keyboard shortcuts',
    list: [
      ['?', 'This list'],
      ['g h', 'Home'],
      ['g t', 'Tips'],
      ['g w', 'Withdraw'],
      ['g o', 'Overlay'],
      ['g d', 'Developers'],
      ['g c', 'Security'],
      ['g s', 'Settings'],
      ['w', 'Withdraw'],
      ['/', 'Search tips'],
    ],
  },
  csv: {
    save: 'Save as CSV',
    busy: (rows: number) => (rows === 0 ? 'Saving…' : `Saving… ${rows} rows`),
  },
  status: {
    pending: 'Pending',
    confirmed: 'Confirmed',
    failed: 'Failed',
    cancelled: 'Cancelled',
    submitted: 'Sent',
    processing: 'In transfer',
    completed: 'Paid',
  },
} as const
