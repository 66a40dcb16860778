import { displayText } from '../../kernel/money.js'

/** Formats amounts for people. Raw amounts stay text or bigint, because they may exceed the safe integers. */

function formatsOf(locale: string) {
  const money = (currency: string, decimals: number) =>
    new Intl.NumberFormat(locale, {
      style: 'currency',
      currency,
      currencyDisplay: 'narrowSymbol',
      minimumFractionDigits: decimals,
      maximumFractionDigits: decimals,
    })
  return {
    dollars: money('USD', 2),
    wholeDollars: money('USD', 0),
    naira: money('NGN', 2),
    wholeNaira: money('NGN', 0),
  }
}

let formats = formatsOf('en-NG')

/** Sets how amounts of money are written. */
export function useMoneyLocale(locale: string): void {
  formats = formatsOf(locale)
}

const shownDigits = 5
const dollarDecimals = 6

/** `$5.00`. */
export function usd(amount: number): string {
  return formats.dollars.format(amount)
}

/** A balance, to the cent below: what is shown can be withdrawn. */
export function usdBelow(amount: number): string {
  return usd(Math.floor(amount * 100 + 1e-6) / 100)
}

/** `$5` where there are no cents, else `$5.50`. */
export function shortUsd(amount: number): string {
  return Number.isInteger(amount) ? formats.wholeDollars.format(amount) : usd(amount)
}

/** `₦7,600.00`. */
export function ngn(amount: number): string {
  return formats.naira.format(amount)
}

/** Dollars in naira at a rate, to the whole naira below: an estimate must not promise more than comes. */
export function aboutNgn(dollarAmount: number, rate: number): string {
  return shortNgn(Math.floor(dollarAmount * rate))
}

/** `₦7,600` where there are no kobo, else `₦7,600.50`. */
export function shortNgn(amount: number): string {
  return Math.round(amount * 100) % 100 === 0 ? formats.wholeNaira.format(amount) : ngn(amount)
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
