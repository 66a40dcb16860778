const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
const digitOf = new Int8Array(128).fill(-1)
for (let digit = 0; digit < 58; digit++) digitOf[alphabet.charCodeAt(digit)] = digit

/** 64 bytes (a signature) need at most 88 characters. A limit, because decoding takes quadratic time. */
const maxLength = 88

/** Both directions take three bytes and four digits at a time (58^4 < 2^24), in limbs that stay exact in a double. */
const bytesPerStep = 3
const digitsPerStep = 4
const limb = 2 ** 24
const factors = [1, 58, 58 ** 2, 58 ** 3, 58 ** 4]
const base = 58 ** 4

/** Base58 (Bitcoin alphabet) of the bytes; leading zero bytes become leading ones. */
export function encodeBase58(bytes: Uint8Array): string {
  const limbs: number[] = []
  let at = 0
  for (let end = bytes.length % bytesPerStep || bytesPerStep; end <= bytes.length; end += bytesPerStep) {
    let value = 0
    for (; at < end; at++) value = value * 256 + (bytes[at] as number)
    multiplyAdd(limbs, limb, value, base)
  }
  let text = ''
  for (const value of limbs) text = fourDigits(value) + text
  return '1'.repeat(leading(bytes, 0)) + text.slice(leading(text, '1'))
}

function fourDigits(value: number): string {
  let text = ''
  for (let rest = value, digit = 0; digit < digitsPerStep; digit++) {
    const next = (rest / 58) | 0
    text = alphabet[rest - next * 58] + text
    rest = next
  }
  return text
}

/**
 * The bytes of a base58 text of at most `longest` characters, or undefined when it is not base58.
 * The mapping is one to one (each leading one is a zero byte), so a text that decodes is canonical.
 */
export function decodeBase58(text: string, longest = maxLength): Uint8Array | undefined {
  if (text.length > longest) return undefined
  const limbs: number[] = []
  for (let i = 0; i < text.length; i += digitsPerStep) {
    const end = Math.min(i + digitsPerStep, text.length)
    let value = 0
    for (let j = i; j < end; j++) {
      const digit = digitOf[text.charCodeAt(j)] ?? -1
      if (digit < 0) return undefined
      value = value * 58 + digit
    }
    multiplyAdd(limbs, factors[end - i] as number, value, limb)
  }
  return bigEndian(limbs, leading(text, '1'))
}

/**
 * limbs = limbs * factor + addend, least significant limb first, each below `radix`. Avoids `%`, which is ten times slower on
 * doubles.
 */
function multiplyAdd(limbs: number[], factor: number, addend: number, radix: number): void {
  let carry = addend
  for (let i = 0; i < limbs.length; i++) {
    const sum = carry + (limbs[i] as number) * factor
    carry = Math.floor(sum / radix)
    limbs[i] = sum - carry * radix
  }
  for (; carry > 0; carry = Math.floor(carry / radix)) limbs.push(carry % radix)
}

function bigEndian(limbs: readonly number[], zeros: number): Uint8Array {
  const top = limbs.at(-1) ?? 0
  const length = limbs.length === 0 ? 0 : (limbs.length - 1) * 3 + (top > 0xffff ? 3 : top > 0xff ? 2 : 1)
  const bytes = new Uint8Array(zeros + length)
  let at = bytes.length
  for (const value of limbs)
    for (let shift = 0; shift < 24 && at > zeros; shift += 8) bytes[--at] = (value >> shift) & 0xff
  return bytes
}

/** How many entries at the beginning equal `value`. */
function leading<Value>(entries: { readonly [index: number]: Value }, value: Value): number {
  let count = 0
  while (entries[count] === value) count += 1
  return count
}

/** A wallet or mint: base58 of exactly 32 bytes. */
export function isAddress(text: unknown): text is string {
  return (
    typeof text === 'string' && text.length >= 32 && text.length <= 44 && decodeBase58(text)?.length === 32
  )
}

/** A transaction signature: base58 of exactly 64 bytes. */
export function isSignature(text: unknown): text is string {
  return typeof text === 'string' && text.length >= 64 && decodeBase58(text)?.length === 64
}
