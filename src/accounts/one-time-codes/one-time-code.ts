import { createHmac, randomInt, timingSafeEqual } from 'node:crypto'

/** The contract's form of a code. */
export const codePattern = /^[0-9]{6}$/
const codes = 1_000_000

/** A new code: six digits, every one of the million equally likely. */
export function newCode(): string {
  return String(randomInt(codes)).padStart(6, '0')
}

/**
 * What is stored of a code. Keyed, because a plain hash of a million values is undone in a second by whoever reads
 * the table; bound to the account, so that equal codes of two people do not look alike.
 */
export function codeHmac(pepper: Uint8Array, userId: string, code: string): Buffer {
  return createHmac('sha256', pepper).update(`otp/1|${userId}|${code}`).digest()
}

/** Whether two codes are the same one, in a time that does not depend on where they differ. */
export function sameCode(one: Uint8Array | null, other: Uint8Array): boolean {
  return one !== null && one.length === other.length && timingSafeEqual(one, other)
}
