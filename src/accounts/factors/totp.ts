import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { serviceName } from '../../kernel/brand.js'

/** RFC 6238 with what authenticator apps assume: SHA-1, six digits, steps of 30 seconds. */
const stepSeconds = 30
const digits = 6
/** RFC 4226, 4: the secret should have the length of the hash. */
const secretBytes = 20
/** RFC 6238, 5.2: one step for a clock that is wrong and a person who types slowly. */
const drift = 1

/** The form of a code, as typed: apps show it in two groups. */
const codeForm = /^[0-9]{6}$/
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

export function newTotpSecret(): Buffer {
  return randomBytes(secretBytes)
}

/** The code in a text, without the blanks in which apps group it; undefined for any other text. */
export function parseTotpCode(text: string): string | undefined {
  const code = text.replaceAll(/\s/g, '')
  return codeForm.test(code) ? code : undefined
}

/** The step of a time in seconds since 1970. */
export function stepAt(seconds: number): number {
  return Math.floor(seconds / stepSeconds)
}

/** The code of a step: HOTP (RFC 4226, 5.3) of its number. */
export function codeAt(secret: Uint8Array, step: number): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(step))
  const digest = createHmac('sha1', secret).update(counter).digest()
  const offset = (digest.at(-1) ?? 0) & 0xf
  const number = digest.readUInt32BE(offset) & 0x7fff_ffff
  return String(number % 10 ** digits).padStart(digits, '0')
}

/** The step whose code this is, of those that a code may be of now. Every step is compared, in constant time. */
export function findStep(secret: Uint8Array, code: string, seconds: number): number | undefined {
  const now = stepAt(seconds)
  const presented = Buffer.from(code)
  let found: number | undefined
  for (let step = now - drift; step <= now + drift; step++)
    if (timingSafeEqual(Buffer.from(codeAt(secret, step)), presented)) found = step
  return found
}

/** Base32 (RFC 4648) without padding, as authenticator apps take it. */
export function base32(bytes: Uint8Array): string {
  let text = ''
  let bits = 0
  let value = 0
  for (const byte of bytes) {
    value = ((value << 8) | byte) & 0xfff
    bits += 8
    while (bits >= 5) {
      bits -= 5
      text += alphabet.charAt((value >> bits) & 31)
    }
  }
  return bits === 0 ? text : text + alphabet.charAt((value << (5 - bits)) & 31)
}

/** The address that an app reads from a QR code. */
export function totpUri(secret: string, email: string): string {
  const label = `${encodeURIComponent(serviceName)}:${encodeURIComponent(email)}`
  const fields = { secret, issuer: serviceName, algorithm: 'SHA1', digits, period: stepSeconds }
  const query = Object.entries(fields).map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
  return `otpauth://totp/${label}?${query.join('&')}`
}
