/**
 * Parses numbers that people type, for every page. Both conventions are accepted: `1,5` is 1.5, and both `1,000,000.50` and
 * `1.000.000,50` are 1000000.5. A text that means different numbers in the two conventions is `unclear`, never guessed.
 */

export type Currency = 'USD' | 'NGN'

/** `unclear`: could mean two numbers. Undefined: not a number. */
type ParsedNumber = { readonly whole: string; readonly fraction: string } | 'unclear' | undefined

/** A number with a currency before or after it: `$5`, `US$ 5`, `₦5`, `N5`, `5 NGN`, `5 naira`. */
const written =
  /^\s*(?<before>US\$|\$|USD|₦|NGN|N)?\s*(?<amount>.*?)\s*(?<after>\$|USD|dollars?|₦|NGN|naira|N)?\s*$/i
const nairaSign = /[₦N]/i
/** Of USDC. */
const mostDecimals = 6
/** `1,000` is one thousand in Lagos and one in Paris; `1.000` is the opposite. */
const unclear = /^[1-9]\d{0,2}[.,]\d{3}$/
/** In Nigeria a comma groups thousands: ₦5,000 is five thousand naira. */
const nairaThousands = /^[1-9]\d{0,2},\d{3}$/
const shapes = [
  // No groups: 1000 and 1000.50, with up to the nine decimals of SOL.
  /^(?<whole>\d+)(?:\.(?<fraction>\d{0,9}))?$/,
  // A decimal comma is followed by one or two digits: more of them are probably a grouping mistake, except after a zero.
  /^(?<whole>\d+),(?<fraction>\d{1,2})$/,
  /^(?<whole>0),(?<fraction>\d{1,9})$/,
  // Two different marks: the last one is the decimal mark. 1,000.50 and 1.000,50.
  /^(?<whole>[1-9]\d{0,2}(?:,\d{3})+)\.(?<fraction>\d{1,6})$/,
  /^(?<whole>[1-9]\d{0,2}(?:\.\d{3})+),(?<fraction>\d{1,6})$/,
  // The same mark twice groups thousands: 1,000,000 and 1.000.000.
  /^(?<whole>[1-9]\d{0,2}(?:,\d{3}){2,}|[1-9]\d{0,2}(?:\.\d{3}){2,})$/,
  // A space groups thousands: 1 000 and 1 000,50.
  /^(?<whole>[1-9]\d{0,2}(?:\s\d{3})+)(?:[.,](?<fraction>\d{1,6}))?$/,
]

/** The currency that the text names. Undefined when it names none, or two. */
export function namedCurrency(text: string): Currency | undefined {
  const { before, after } = written.exec(text)?.groups ?? {}
  const named = [before, after]
    .filter((sign) => sign !== undefined)
    .map((sign) => (nairaSign.test(sign) ? 'NGN' : 'USD'))
  return named.length === 2 && named[0] !== named[1] ? undefined : named[0]
}

/** Undefined when the text names another currency: an amount in naira is never read as one in dollars. */
function parse(text: string, currency: Currency): ParsedNumber {
  const { before, after, amount: plain = '' } = written.exec(text)?.groups ?? {}
  if ((before ?? after) !== undefined && namedCurrency(text) !== currency) return undefined
  if (currency === 'NGN' && nairaThousands.test(plain)) return { whole: plain.replace(',', ''), fraction: '' }
  if (unclear.test(plain)) return 'unclear'
  for (const shape of shapes) {
    const found = shape.exec(plain)?.groups
    if (found !== undefined)
      return { whole: (found['whole'] ?? '').replace(/\D/g, ''), fraction: found['fraction'] ?? '' }
  }
  return undefined
}

/** Whether the text could mean two numbers, such as `1,000`. */
export function isUnclear(text: string, currency: Currency = 'USD'): boolean {
  return parse(text, currency) === 'unclear'
}

/** A number from 0 to below 10^12 with at most six decimals; undefined for other, unclear and other currencies' texts. */
export function typedNumber(text: string, currency: Currency = 'USD'): number | undefined {
  const parsed = parse(text, currency)
  if (parsed === undefined || parsed === 'unclear') return undefined
  if (parsed.whole.length > 12 || parsed.fraction.length > mostDecimals) return undefined
  return Number(`${parsed.whole}.${parsed.fraction}`)
}

/**
 * An amount of a token as exact decimal text, such as `1000.5` for `1,000.50`. `unclear` when it could mean two numbers;
 * undefined when it is none, is zero or names a currency.
 */
export function typedTokenAmount(text: string): string | undefined {
  const parsed = namedCurrency(text) === undefined ? parse(text, 'USD') : undefined
  if (parsed === undefined || parsed === 'unclear') return parsed
  const whole = parsed.whole.replace(/^0+(?=\d)/, '')
  const fraction = parsed.fraction.replace(/0+$/, '')
  if (whole === '0' && fraction === '') return undefined
  return fraction === '' ? whole : `${whole}.${fraction}`
}

/** Why a text is no number of a field that takes no naira, as an error code. Undefined for a number and for no text. */
export function numberFault(text: string): 'unclear_number' | 'no_naira' | 'invalid_number' | undefined {
  if (text === '' || typedNumber(text) !== undefined) return undefined
  if (isUnclear(text)) return 'unclear_number'
  return namedCurrency(text) === 'NGN' ? 'no_naira' : 'invalid_number'
}

/** The same below a billion with at most two decimals, in cents or kobo. */
export function typedCents(text: string, currency: Currency = 'USD'): number | undefined {
  const parsed = parse(text, currency)
  if (parsed === undefined || parsed === 'unclear') return undefined
  const { whole, fraction } = parsed
  if (whole.length > 9 || fraction.length > 2) return undefined
  return Number(whole) * 100 + Number(fraction.padEnd(2, '0'))
}

/** Text that parses to this same number. */
export function numberText(value: number): string {
  const text = String(value)
  return isUnclear(text) ? `${text}0` : text
}
