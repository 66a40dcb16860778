// Control characters and the marks that turn the direction of text: they hide or reorder what a reader sees.
const unsafe = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu
const unsafeButLines = /(?![\n\t])[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu

/** Half of a surrogate pair, which JSON can carry and UTF-8 cannot. */
const halfCharacter = /\p{Cs}/gu

/**
 * One line of text a stranger wrote, made safe to show: stripped, normalised (NFC), trimmed, and cut to `most` UTF-16
 * units, which is what the `maxlength` of a form counts: an emoji takes two.
 */
export function cleanLine(text: string, most: number): string {
  return tidy(text.replace(unsafe, ''), most)
}

/** A message a stranger wrote: as `cleanLine`, but line breaks and tabs stay. */
export function cleanMessage(text: string, most: number): string {
  return tidy(text.replace(unsafeButLines, ''), most)
}

/** The contract's mask of a wallet: first four and last four characters. */
export function maskAddress(address: string): string {
  return `${address.slice(0, 4)}...${address.slice(-4)}`
}

/** How many characters a person counts, an emoji or a rare letter as one: what PostgreSQL's `length` gives too. */
export function characters(text: string): number {
  let count = 0
  for (const _ of text) count += 1
  return count
}

function tidy(text: string, most: number): string {
  return cut(text.replace(halfCharacter, '\ufffd').normalize('NFC').trim(), most)
}

/** Never through the middle of a surrogate pair, and without the blanks that now stand at the end. */
function cut(text: string, most: number): string {
  return text.length <= most
    ? text
    : text
        .slice(0, most)
        .replace(/[\ud800-\udbff]$/, '')
        .trimEnd()
}
