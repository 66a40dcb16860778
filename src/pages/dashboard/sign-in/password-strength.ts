export type Strength = 'short' | 'weak' | 'fair' | 'strong'

const leastLength = 8

/**
 * A hint while a password is typed. It counts what a guess has to get right: repeated characters, runs like `1234` or `abcd` and
 * the parts of the e-mail address count little. Whether a password is a common one only the service knows.
 */
export function passwordStrength(password: string, email: string): Strength {
  if ([...password].length < leastLength) return 'short'
  const bits = guessBits(withoutParts(password.toLowerCase(), email)) + mixBits(password)
  if (bits < 40) return 'weak'
  return bits < 54 ? 'fair' : 'strong'
}

function withoutParts(password: string, email: string): string {
  return email
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((part) => part.length > 2)
    .reduce((text, part) => text.replaceAll(part, 'x'), password)
}

/** About 4 bits for a character, a quarter of that for one that repeats or continues the one before. */
function guessBits(text: string): number {
  const characters = [...text].map((character) => character.codePointAt(0) ?? 0)
  const seen = new Set<number>()
  return characters.reduce((bits, code, at) => {
    const step = code - (characters[at - 1] ?? -10)
    const expected = Math.abs(step) <= 1 || seen.has(code)
    seen.add(code)
    return bits + (expected ? 1 : 4)
  }, 0)
}

function mixBits(password: string): number {
  const kinds = [/\p{Ll}/u, /\p{Lu}/u, /\p{N}/u, /[^\p{L}\p{N}]/u].filter((kind) => kind.test(password))
  return 2 * (kinds.length - 1)
}
