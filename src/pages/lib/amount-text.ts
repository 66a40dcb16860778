/**
 * The one reading of numbers that people type, for every page. Marks of either custom are taken: `1,5` is 1.5, and both
 * `1,000,000.50` and `1.000.000,50` are a million and a half. Where the customs differ by a thousand, nothing is guessed.
 */

/** A number in its digits; `unclear` when it could be two numbers, undefined when it is none. */
type Reading = { readonly whole: string; readonly fraction: string } | 'unclear' | undefined

/** The sign of the currency may lead. */
const around = /^\s*[$₦]?\s*|\s+$/g
/** `1,000` is a thousand in Lagos and one in Paris, `1.000` the other way round. */
const unclear = /^[1-9]\d{0,2}[.,]\d{3}$/
const shapes = [
  // Without groups: 1000 and 1000.50, up to the six decimals of USDC.
  /^(?<whole>\d+)(?:\.(?<fraction>\d{0,6}))?$/,
  // A comma before more than cents would rather be a slip in grouping, except after a zero.
  /^(?<whole>\d+),(?<fraction>\d{1,2})$/,
  /^(?<whole>0),(?<fraction>\d{1,6})$/,
  // Marks that differ tell each other apart: 1,000.50 and 1.000,50.
  /^(?<whole>[1-9]\d{0,2}(?:,\d{3})+)\.(?<fraction>\d{1,6})$/,
  /^(?<whole>[1-9]\d{0,2}(?:\.\d{3})+),(?<fraction>\d{1,6})$/,
  // No number has two decimal marks: 1,000,000 and 1.000.000.
  /^(?<whole>[1-9]\d{0,2}(?:,\d{3}){2,}|[1-9]\d{0,2}(?:\.\d{3}){2,})$/,
  // A blank never is one: 1 000 and 1 000,50.
  /^(?<whole>[1-9]\d{0,2}(?:\s\d{3})+)(?:[.,](?<fraction>\d{1,6}))?$/,
]

function read(text: string): Reading {
  const plain = text.replace(around, '')
  if (unclear.test(plain)) return 'unclear'
  for (const shape of shapes) {
    const found = shape.exec(plain)?.groups
    if (found !== undefined)
      return { whole: (found['whole'] ?? '').replace(/\D/g, ''), fraction: found['fraction'] ?? '' }
  }
  return undefined
}

/** Whether a number could be meant as one that is a thousand times as large, such as `1,000`. */
export function isUnclear(text: string): boolean {
  return read(text) === 'unclear'
}

/** A number that is not negative, below 10^12 and of at most six decimals; undefined when it is none or unclear. */
export function typedNumber(text: string): number | undefined {
  const reading = read(text)
  if (reading === undefined || reading === 'unclear' || reading.whole.length > 12) return undefined
  return Number(`${reading.whole}.${reading.fraction}`)
}

/** An amount of dollars below ten millions, in cents; undefined when it is none or unclear. */
export function typedCents(text: string): number | undefined {
  const reading = read(text)
  if (reading === undefined || reading === 'unclear') return undefined
  const { whole, fraction } = reading
  if (whole.length > 7 || fraction.length > 2) return undefined
  return Number(whole) * 100 + Number(fraction.padEnd(2, '0'))
}

/** A number as somebody would type it, which reads as the same number. */
export function numberText(value: number): string {
  const text = String(value)
  return isUnclear(text) ? `${text}0` : text
}
