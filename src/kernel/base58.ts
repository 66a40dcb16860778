const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
const digitOf = new Int8Array(128).fill(-1)
for (let digit = 0; digit < 58; digit++) digitOf[alphabet.charCodeAt(digit)] = digit

/** Longest key or signature: 64 bytes need at most 88 characters. A longer text costs a caller nothing but us time. */
const maxLength = 88

/** Base58 (Bitcoin alphabet) of the bytes; leading zero bytes become leading ones. */
export function encodeBase58(bytes: Uint8Array): string {
  const digits: number[] = []
  for (const byte of bytes) {
    let carry = byte
    for (let i = 0; i < digits.length; i++) {
      carry += (digits[i] as number) << 8
      digits[i] = carry % 58
      carry = (carry / 58) | 0
    }
    for (; carry > 0; carry = (carry / 58) | 0) digits.push(carry % 58)
  }
  let text = ''
  for (let i = 0; i < bytes.length && bytes[i] === 0; i++) text += '1'
  for (let i = digits.length - 1; i >= 0; i--) text += alphabet[digits[i] as number]
  return text
}

/**
 * The bytes of a base58 text of at most `longest` characters, or undefined when it is not base58.
 * The mapping is one to one (each leading one is a zero byte), so a text that decodes is canonical.
 */
export function decodeBase58(text: string, longest = maxLength): Uint8Array | undefined {
  if (text.length > longest) return undefined
  const bytes: number[] = []
  for (let i = 0; i < text.length; i++) {
    let carry = digitOf[text.charCodeAt(i)] ?? -1
    if (carry < 0) return undefined
    for (let j = 0; j < bytes.length; j++) {
      carry += (bytes[j] as number) * 58
      bytes[j] = carry & 0xff
      carry >>= 8
    }
    for (; carry > 0; carry >>= 8) bytes.push(carry & 0xff)
  }
  for (let i = 0; i < text.length && text[i] === '1'; i++) bytes.push(0)
  return Uint8Array.from(bytes.reverse())
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
