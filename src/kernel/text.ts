// Control characters and marks of text direction: they hide or reorder what a reader sees (docs/decisions/0033).
const unsafe = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu
const unsafeExceptLineBreaks = /(?![\n\t])[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu

/** Half of a surrogate pair. JSON can carry one, UTF-8 cannot. */
const loneSurrogate = /\p{Cs}/gu

/**
 * Untrusted text as one line that is safe to show: stripped, normalised (NFC), trimmed, and cut to `maxLength` UTF-16
 * units. HTML's `maxlength` counts the same units: an emoji takes two.
 */
export function cleanLine(text: string, maxLength: number): string {
  return normalise(text.replace(unsafe, ''), maxLength)
}

/** Untrusted text as a message: as `cleanLine`, but line breaks and tabs stay. */
export function cleanMessage(text: string, maxLength: number): string {
  return normalise(text.replace(unsafeExceptLineBreaks, ''), maxLength)
}

/** A wallet as the API shows it in lists: first four and last four characters. */
export function maskAddress(address: string): string {
  return `${address.slice(0, 4)}...${address.slice(-4)}`
}

/** The number of code points, as PostgreSQL's `length` counts. An emoji counts as one. */
export function countCharacters(text: string): number {
  let count = 0
  for (const _ of text) count += 1
  return count
}

function normalise(text: string, maxLength: number): string {
  return cut(text.replace(loneSurrogate, '\ufffd').normalize('NFC').trim(), maxLength)
}

/** Does not split a surrogate pair, and trims the new end. */
function cut(text: string, maxLength: number): string {
  return text.length <= maxLength
    ? text
    : text
        .slice(0, maxLength)
        .replace(/[\ud800-\udbff]$/, '')
        .trimEnd()
}
