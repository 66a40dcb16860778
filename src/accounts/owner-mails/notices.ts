import { type AccountNotice, describeAccountNotice } from './account-notices.js'
import type { NoticeText } from './notice-text.js'
import { describePaymentNotice, type PaymentNotice } from './payment-notices.js'
import { describeWalletNotice, type WalletNotice } from './wallet-notices.js'
import { describeWithdrawalNotice, type WithdrawalNotice } from './withdrawal-notices.js'

/** What the owner of an account is told by mail. The kind is also the kind of the e-mail's row. */
export type OwnerNotice = AccountNotice | WithdrawalNotice | PaymentNotice | WalletNotice

/**
 * Every kind, and whether the owner of a proven address always gets it: a thief must not bury where money goes under other
 * mails.
 */
export const alwaysMailed: Readonly<Record<OwnerNotice['kind'], boolean>> = {
  'new-device': false,
  'email-proven': false,
  'password-changed': false,
  'email-change-requested': false,
  'email-changed': false,
  'factor-added': false,
  'factor-removed': false,
  'api-key-created': false,
  'site-added': false,
  'payee-added': true,
  'withdrawal-requested': true,
  'withdrawal-paid': true,
  'withdrawal-returned': true,
  'withdrawal-failed': true,
  'withdrawal-cancelled': true,
  'refund-requested': true,
  'refund-paid': true,
  'refund-failed': true,
  'payout-wallet-set': true,
  'payout-wallet-removed': true,
  'tips-to-changed': true,
  'take-out-signed': true,
  'dispute-opened': true,
  'dispute-won': true,
  'dispute-lost': true,
  'payment-returned': true,
  'account-frozen': false,
  'account-unfrozen': false,
}

/** A notice for an address that nobody has proven: without what the holder of the account has written. */
export function withoutWords(notice: OwnerNotice): OwnerNotice {
  if (notice.kind === 'api-key-created') return { ...notice, label: null }
  if (notice.kind === 'site-added') return { ...notice, sites: [] }
  return notice.kind === 'new-device' ? { ...notice, userAgent: null } : notice
}

/**
 * The words of a notice. They never contain the account's name: whoever registers an address chooses it. What others have
 * chosen, such as a label, is quoted and cut.
 */
export function describeNotice(notice: OwnerNotice, site: string): NoticeText {
  if ('withdrawal' in notice) return describeWithdrawalNotice(notice, site)
  if ('refund' in notice || 'payment' in notice) return describePaymentNotice(notice, site)
  return 'wallet' in notice ? describeWalletNotice(notice, site) : describeAccountNotice(notice, site)
}
