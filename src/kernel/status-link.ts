import { createHmac, timingSafeEqual } from 'node:crypto'

/**
 * The secret part of `/t/<token>`, where whoever has the link sees how one payment stands. The ids of naira tips are public, so
 * the token has a code over the id that only the service can make: `n` or `c`, then the 16 bytes of the id and 16 of the code.
 */
const kinds = { n: 'fiatpay_', c: 'pi_' } as const
type Kind = keyof typeof kinds
const idBytes = 16
const tokenForm = /^([nc])([\w-]{43})$/
const uuidGroups = /^(.{8})(.{4})(.{4})(.{4})(.{12})$/

function codeOf(key: Uint8Array, intentId: string): Buffer {
  return createHmac('sha256', key).update(`status ${intentId}`).digest().subarray(0, idBytes)
}

function idOf(kind: Kind, bytes: Buffer): string {
  const hex = bytes.toString('hex')
  return `${kinds[kind]}${kind === 'n' ? hex : hex.replace(uuidGroups, '$1-$2-$3-$4-$5')}`
}

/** `intentId`: of a naira intent or of a crypto intent. */
function statusToken(key: Uint8Array, intentId: string): string {
  const kind: Kind = intentId.startsWith(kinds.n) ? 'n' : 'c'
  const bytes = Buffer.from(intentId.slice(kinds[kind].length).replaceAll('-', ''), 'hex')
  return `${kind}${Buffer.concat([bytes, codeOf(key, intentId)]).toString('base64url')}`
}

/** The intent that a token of ours names. Undefined for every other text. */
export function readStatusToken(key: Uint8Array, token: string): string | undefined {
  const [, kind, text = ''] = tokenForm.exec(token) ?? []
  if (kind === undefined) return undefined
  const bytes = Buffer.from(text, 'base64url')
  // A last character with other spare bits would be a second name of the same payment.
  if (bytes.toString('base64url') !== text) return undefined
  const intentId = idOf(kind as Kind, bytes.subarray(0, idBytes))
  return timingSafeEqual(bytes.subarray(idBytes), codeOf(key, intentId)) ? intentId : undefined
}

/** The key, as SQL. */
export const statusKeySql = '(select key from status_link_key)'

/** `key`: as `statusKeySql` reads it. */
export function statusUrl(publicUrl: string, key: Uint8Array, intentId: string): string {
  return `${publicUrl}/t/${statusToken(key, intentId)}`
}
