import { createHash, randomBytes, randomUUID } from 'node:crypto'

const intentIdPattern = /^pi_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const fiatIntentIdPattern = /^fiatpay_[0-9a-f]{32}$/
const payoutReferencePattern = /^FIATPAY-[0-9A-F]{32}$/
const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** The lower-case UUID of a user id, with or without the contract's `auth_` prefix; undefined otherwise. */
export function userIdFrom(text: string): string | undefined {
  const id = text.startsWith('auth_') ? text.slice('auth_'.length) : text
  return uuidPattern.test(id) ? id.toLowerCase() : undefined
}

/** A new payment intent id (contract: prefix `pi_`). */
export function newIntentId(): string {
  return `pi_${randomUUID()}`
}

/** Whether a text has the form of an intent id: any other names none and need not reach the database. */
export function isIntentId(text: string): boolean {
  return intentIdPattern.test(text)
}

/** A new fiat payment intent id (contract: prefix `fiatpay_`). */
export function newFiatIntentId(): string {
  return `fiatpay_${randomBytes(16).toString('hex')}`
}

/** Whether a text has the form of a fiat intent id. */
export function isFiatIntentId(text: string): boolean {
  return fiatIntentIdPattern.test(text)
}

/** The provider's reference of a fiat intent: its characters are more limited than ours. */
export function providerReferenceOf(fiatIntentId: string): string {
  return fiatIntentId.replace('_', '-')
}

/** A new reference of a withdrawal (contract: `FIATPAY-<hex>`). */
export function newPayoutReference(): string {
  return `FIATPAY-${randomBytes(16).toString('hex').toUpperCase()}`
}

/** Whether a text has the form of a withdrawal's reference. */
export function isPayoutReference(text: string): boolean {
  return payoutReferencePattern.test(text)
}

/** A new bearer secret: 256 random bits, base64url. Only its hash is ever stored. */
export function newSecret(): string {
  return randomBytes(32).toString('base64url')
}

/** What is stored of a bearer secret. Unsalted on purpose: 256 random bits need no salt, and it must be searchable. */
export function secretHash(secret: string): Buffer {
  return createHash('sha256').update(secret).digest()
}
