const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
const valueOfSymbol = new Map([...alphabet].map((symbol, value) => [symbol, value]))

/** Base58 text (Bitcoin's alphabet, as Solana writes keys, hashes and signatures) of these bytes. */
export function encodeBase58(bytes: Uint8Array): string {
  const digits: number[] = []
  for (const byte of bytes) {
    let carry = byte
    for (let index = 0; index < digits.length; index++) {
      carry += (digits[index] ?? 0) * 256
      digits[index] = carry % 58
      carry = Math.floor(carry / 58)
    }
    for (; carry > 0; carry = Math.floor(carry / 58)) digits.push(carry % 58)
  }
  return (
    '1'.repeat(leadingZeros(bytes)) +
    digits
      .reverse()
      .map((digit) => alphabet[digit])
      .join('')
  )
}

/** The bytes this base58 text stands for; undefined when it holds a character outside the alphabet. */
export function decodeBase58(text: string): Uint8Array | undefined {
  const bytes: number[] = []
  for (const symbol of text) {
    let carry = valueOfSymbol.get(symbol)
    if (carry === undefined) return undefined
    for (let index = 0; index < bytes.length; index++) {
      carry += (bytes[index] ?? 0) * 58
      bytes[index] = carry & 0xff
      carry >>= 8
    }
    for (; carry > 0; carry >>= 8) bytes.push(carry & 0xff)
  }
  const ones = /^1*/.exec(text)?.[0].length ?? 0
  return Uint8Array.from([...new Array<number>(ones).fill(0), ...bytes.reverse()])
}

function leadingZeros(bytes: Uint8Array): number {
  const first = bytes.findIndex((byte) => byte !== 0)
  return first === -1 ? bytes.length : first
}
