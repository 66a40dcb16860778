/** Line breaks, tabs and no-break spaces: they separate words, so they become blanks. */
const separators = /\r\n|[\t\n\v\f\r\u0085\u00a0\u2007\u202f\u2028\u2029]/g
/** Control and format characters: they hide or reorder what a reader sees (docs/decisions/0032). Joiners come next. */
const unseen = /(?![\u200c\u200d])[\p{Cc}\p{Cf}]/gu
/** The scripts in which a joiner between two letters changes how they are written. */
const joining =
  '\\p{scx=Arab}\\p{scx=Beng}\\p{scx=Deva}\\p{scx=Gujr}\\p{scx=Guru}\\p{scx=Khmr}\\p{scx=Knda}\\p{scx=Mlym}\\p{scx=Mymr}\\p{scx=Orya}\\p{scx=Sinh}\\p{scx=Taml}\\p{scx=Telu}'
const letter = `(?=[\\p{L}\\p{M}])[${joining}]`
/** Joiners, except within an emoji and between letters of those scripts. */
const looseJoiners = new RegExp(
  `(?!(?<=[\\p{Extended_Pictographic}\\p{Emoji_Modifier}\\ufe0f])\\u200d(?=\\p{Extended_Pictographic}))(?!(?<=${letter})[\\u200c\\u200d](?=${letter}))[\\u200c\\u200d]`,
  'gu',
)
/** Characters of other classes that show nothing, such as the Hangul filler and the blank Braille cell. */
const showsNothing = /^[\s\p{Default_Ignorable_Code_Point}\u2800]*$/u

/** Half of a surrogate pair. Requests with one are refused; an answer of a provider may contain one. */
const loneSurrogate = /\p{Cs}/gu

/** Marks beyond what any script stacks (UAX #15, 13). Normalizing takes the square of their number. */
const stacked = /(\p{M}{30})\p{M}+/gu

/** Printable ASCII. Cleaning such text only trims it, and most texts are such. */
const plain = /^[ -~]*$/

/**
 * Untrusted text as one line that is safe to show, for every field: line breaks and no-break spaces become blanks; control
 * and format characters, and marks after thirty, are removed; then NFC, trimmed, and cut to `maxLength` code points. Empty when it shows
 * nothing.
 */
export function cleanLine(text: string, maxLength = Number.POSITIVE_INFINITY): string {
  if (plain.test(text)) return cut(text.trim(), maxLength)
  const clean = text
    .replace(separators, ' ')
    .replace(unseen, '')
    .replace(looseJoiners, '')
    .replace(loneSurrogate, '\ufffd')
    .replace(stacked, '$1')
    .normalize('NFC')
    // It may have taken a mark off a letter.
    .replace(stacked, '$1')
    .trim()
  const line = cut(clean, maxLength)
  return showsNothing.test(line) ? '' : line
}

/** API: the length of a supporter's message, in characters. */
export const maxMessageLength = 500

const maxNameLength = 100

/** A supporter's display name as it is kept, null when it shows nothing. */
export function cleanName(text = ''): string | null {
  return cleanLine(text, maxNameLength) || null
}

/** A supporter's message as it is kept, null when it shows nothing. `truncated` is there when it was cut. */
export function cleanMessage(text = ''): { readonly message: string | null; readonly truncated?: true } {
  const whole = cleanLine(text)
  const isLong = whole.length > maxMessageLength && countCharacters(whole) > maxMessageLength
  return isLong
    ? { message: cleanLine(whole, maxMessageLength) || null, truncated: true }
    : { message: whole || null }
}

/** Whether a reader sees anything of this text. */
export function isVisible(text: string): boolean {
  // Most texts have a printable ASCII character, and this is on the path of every recorded tip.
  return /[!-~]/.test(text) || cleanLine(text) !== ''
}

/** A wallet as the API shows it in lists: first four and last four characters. */
export function maskAddress(address: string): string {
  return `${address.slice(0, 4)}...${address.slice(-4)}`
}

/** The length of a bank account's number in Nigeria. */
const accountLength = 10

/** The last four digits of a bank account as lists and mails show it: `6789` as `******6789`. */
export function maskAccount(lastFour: string): string {
  return lastFour.padStart(accountLength, '*')
}

/** The number of code points, as PostgreSQL's `length` counts. An emoji counts as one. */
export function countCharacters(text: string): number {
  let count = 0
  for (const _ of text) count += 1
  return count
}

/** A text has at most as many code points as units. The new end has no blank and no joiner without its second half. */
function cut(text: string, maxLength: number): string {
  if (text.length <= maxLength || countCharacters(text) <= maxLength) return text
  return [...text]
    .slice(0, maxLength)
    .join('')
    .replace(/(?<![\s\u200c\u200d])[\s\u200c\u200d]+$/, '')
}
