import { displayText } from '../../kernel/money.js'

/** Formats amounts for people. Raw amounts stay text or bigint, because they may exceed the safe integers. */

const dollars = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' })
const wholeDollars = new Intl.NumberFormat('en-US', {
  style: 'currency',
  currency: 'USD',
  maximumFractionDigits: 0,
})
const naira = new Intl.NumberFormat('en-NG', {
  style: 'currency',
  currency: 'NGN',
  currencyDisplay: 'narrowSymbol',
})
const shownDigits = 5
const dollarDecimals = 6

/** `$5.00`. */
export function usd(amount: number): string {
  return dollars.format(amount)
}

/** A balance, to the cent below: what is shown can be withdrawn. */
export function usdBelow(amount: number): string {
  return usd(Math.floor(amount * 100 + 1e-6) / 100)
}

/** `$5` where there are no cents, else `$5.50`. */
export function shortUsd(amount: number): string {
  return Number.isInteger(amount) ? wholeDollars.format(amount) : usd(amount)
}

/** `₦7,600.00`. */
export function ngn(amount: number): string {
  return naira.format(amount)
}

/** Dollars in naira at a rate, to the whole naira below: an estimate must not promise more than comes. */
export function aboutNgn(dollarAmount: number, rate: number): string {
  return shortNgn(Math.floor(dollarAmount * rate))
}

/** `₦7,600` where there are no kobo, else `₦7,600.50`. */
export function shortNgn(amount: number): string {
  return ngn(amount).replace(/\.00$/, '')
}

/** Base units for display: `4.90 USDC`, `0.0334 SOL`, `250,000 BONK`; five significant digits, truncated. */
export function tokenAmount(raw: string, decimals: number, symbol: string): string {
  const [whole = '0', fraction = ''] = displayText(BigInt(raw), decimals).split('.')
  const leading = whole === '0' ? (/^0*/.exec(fraction)?.[0].length ?? 0) : -whole.length
  const kept = fraction.slice(0, Math.max(2, leading + shownDigits)).replace(/0+$/, '')
  // Tokens with six decimals are dollar stablecoins: show cents.
  const cents = decimals === dollarDecimals && kept.length < 2
  const shown = cents || kept.length === 1 ? `.${kept.padEnd(2, '0')}` : kept === '' ? '' : `.${kept}`
  return `${BigInt(whole).toLocaleString('en-US')}${shown} ${symbol}`
}
