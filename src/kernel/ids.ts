import { createHash, randomBytes, randomUUID } from 'node:crypto'

const intentIdPattern = /^pi_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const fiatIntentIdPattern = /^fiatpay_[0-9a-f]{32}$/
const payoutReferencePattern = /^FIATPAY-[0-9A-F]{32}$/
const refundIdPattern = /^refund_[0-9a-f]{32}$/
const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** The lower-case UUID of a user id, with or without the API's prefix `auth_`; undefined for any other text. */
export function parseUserId(text: string): string | undefined {
  const id = text.startsWith('auth_') ? text.slice('auth_'.length) : text
  return uuidPattern.test(id) ? id.toLowerCase() : undefined
}

/** A new payment intent id. */
export function newIntentId(): string {
  return `pi_${randomUUID()}`
}

/** Whether a text has the form of a payment intent id. No other text needs a query. */
export function isIntentId(text: string): boolean {
  return intentIdPattern.test(text)
}

/** A new fiat intent id. */
export function newFiatIntentId(): string {
  return `fiatpay_${randomBytes(16).toString('hex')}`
}

/** Whether a text has the form of a fiat intent id. */
export function isFiatIntentId(text: string): boolean {
  return fiatIntentIdPattern.test(text)
}

/** The provider's reference of a fiat intent. The provider allows no underscore. */
export function providerReferenceOf(fiatIntentId: string): string {
  return fiatIntentId.replace('_', '-')
}

/** A new reference of a withdrawal. */
export function newPayoutReference(): string {
  return `FIATPAY-${randomBytes(16).toString('hex').toUpperCase()}`
}

/** Whether a text has the form of a withdrawal reference. */
export function isPayoutReference(text: string): boolean {
  return payoutReferencePattern.test(text)
}

/** A new id of a refund of what is in suspense. */
export function newSuspenseRefundId(): string {
  return `suspense_${randomBytes(16).toString('hex')}`
}

/** A new id of a refund that a creator asks for. */
export function newRefundId(): string {
  return `refund_${randomBytes(16).toString('hex')}`
}

/** Whether a text is the id of such a refund. The provider shows it as the note of the refund. */
export function isRefundId(text: string): boolean {
  return refundIdPattern.test(text)
}

/** A new bearer secret: 256 random bits, base64url. Only its hash is stored. */
export function newSecret(): string {
  return randomBytes(32).toString('base64url')
}

/** The stored form of a bearer secret. Unsalted: 256 random bits need no salt, and queries search by the hash. */
export function hashSecret(secret: string): Buffer {
  return createHash('sha256').update(secret).digest()
}

/** Three digits for a bank; the provider's own codes of wallets and microfinance banks have up to six. */
export function isBankCode(text: string): boolean {
  return /^\d{3,6}$/.test(text)
}
