/** Prices are whole numbers of pico-dollars (10^-12 USD) per token: BONK at 0.00002 USD keeps eight digits. */
export const picoDecimals = 12
/** Limits and requested amounts in USD are whole numbers of micro-dollars. */
export const microDecimals = 6

/**
 * A JSON number as base units, rounded half up: 1.5 with 9 decimals is 1_500_000_000n. Reads the number's
 * shortest decimal text, so 19.99 is exactly 19.99. Undefined unless finite and at least one base unit.
 */
export function baseUnits(value: unknown, decimals: number): bigint | undefined {
  if (typeof value !== 'number' || !Number.isFinite(value) || value <= 0) return undefined
  const units = scaled(value, decimals)
  return units > 0n ? units : undefined
}

/** Base units as a JSON number of display units. Money becomes a JSON number here and nowhere else. */
export function displayNumber(units: bigint, decimals: number): number {
  return Number(displayText(units, decimals))
}

/** Base units as exact decimal text without trailing zeros: 1_500_000n with 6 decimals is `1.5`. */
export function displayText(units: bigint, decimals: number): string {
  const sign = units < 0n ? '-' : ''
  const digits = String(units < 0n ? -units : units).padStart(decimals + 1, '0')
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '')
  return `${sign}${digits.slice(0, digits.length - decimals)}${fraction === '' ? '' : `.${fraction}`}`
}

/** Exact decimal text as base units: `1.5` with 6 decimals is 1_500_000n. Undefined for another form and for more decimals. */
export function unitsOfText(text: string, decimals: number): bigint | undefined {
  const [, whole, fraction = ''] = /^(\d+)(?:\.(\d+))?$/.exec(text) ?? []
  const digits = fraction.replace(/(?<!0)0+$/, '')
  if (whole === undefined || digits.length > decimals) return undefined
  return BigInt(whole + digits.padEnd(decimals, '0'))
}

/** Decimal text with a comma between thousands: `15,840.5`. */
export function groupedText(decimal: string): string {
  const [whole = '0', fraction] = decimal.split('.')
  return `${whole.replace(/\B(?=(\d{3})+$)/g, ',')}${fraction === undefined ? '' : `.${fraction}`}`
}

/** Kobo as people read them: `NGN 15,840.00`. */
export function nairaText(kobo: bigint): string {
  const [whole = '0', fraction = ''] = displayText(kobo, 2).split('.')
  return `NGN ${groupedText(whole)}.${fraction.padEnd(2, '0')}`
}

/** Micro-USDC as people read them: `10.5 USDC`. */
export function usdcText(micro: bigint): string {
  return `${groupedText(displayText(micro, 6))} USDC`
}

/** A token price in USD as pico-dollars; undefined unless it is at least one pico-dollar. */
export function picoUsd(usd: unknown): bigint | undefined {
  return baseUnits(usd, picoDecimals)
}

/** What `units` of a token are worth, in cents, rounded half up. */
export function centsWorth(units: bigint, decimals: number, price: bigint): bigint {
  return divideHalfUp(units * price, 10n ** BigInt(decimals + picoDecimals - 2))
}

/** What `units` of a token are worth, in micro-dollars, rounded half up. Fine enough to check limits of a cent. */
export function microWorth(units: bigint, decimals: number, price: bigint): bigint {
  return divideHalfUp(units * price, 10n ** BigInt(decimals + picoDecimals - microDecimals))
}

/** How many base units `usdMicro` micro-dollars buy, rounded half up. */
export function unitsFor(usdMicro: bigint, decimals: number, price: bigint): bigint {
  return divideHalfUp(usdMicro * 10n ** BigInt(decimals + picoDecimals - microDecimals), price)
}

/** Basis points of an amount, rounded down, so that a fee never exceeds its rate. */
export function basisPoints(units: bigint, bps: number): bigint {
  return (units * BigInt(bps)) / 10_000n
}

/** A percentage in whole basis points: 1.5 is 150n. */
export function percentBps(percent: number): bigint {
  return BigInt(Math.round(percent * 100))
}

/** Division of non-negative whole numbers, rounded up. */
export function divideUp(value: bigint, by: bigint): bigint {
  return (value + by - 1n) / by
}

/** Division of non-negative whole numbers, rounded half up. */
export function divideHalfUp(value: bigint, by: bigint): bigint {
  return (value * 2n + by) / (by * 2n)
}

function scaled(value: number, decimals: number): bigint {
  const [mantissa = '', exponent = '0'] = String(value).split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  const shift = Number(exponent) - fraction.length + decimals
  const digits = BigInt(whole + fraction)
  if (shift >= 0) return digits * 10n ** BigInt(shift)
  // A number this small rounds to zero. The bound keeps 10^n small for numbers such as 5e-324.
  return -shift > 40 ? 0n : divideHalfUp(digits, 10n ** BigInt(-shift))
}

export function sumOf<Row>(rows: readonly Row[], amountOf: (row: Row) => bigint): bigint {
  return rows.reduce((sum, row) => sum + amountOf(row), 0n)
}

export function least(one: bigint, other: bigint): bigint {
  return one < other ? one : other
}

export function most(one: bigint, other: bigint): bigint {
  return one > other ? one : other
}
