import { shortUsd, usd } from './money.js'

const shownOfAddress = 4
const base58Address = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/
/** API: the `tokenSymbol` of a naira tip, whose amount is in dollars. */
export const fiatSymbol = 'FIAT'
const significantDigits = 5

/** Shortens a base58 address to `9xQe…4f2A`; other text stays. */
export function shortAddress(text: string): string {
  return base58Address.test(text) ? `${text.slice(0, shownOfAddress)}…${text.slice(-shownOfAddress)}` : text
}

/** The sender of a tip for display, at most `most` characters. */
export function senderText(sender: string, most: number): string {
  return cut(shortAddress(sender.trim() === '' ? 'Anonymous' : sender), most)
}

interface Words {
  readonly sender: string
  readonly message: string | null
}

/** The words of a tip. Anyone can write those of an unpaid one, so no page shows them. */
export function paidWords({ sender, message, status }: Words & { readonly status: string }): Words {
  return status === 'confirmed' ? { sender, message } : { sender: '', message: null }
}

/** Cuts text to at most `most` code points; a cut text ends with `…`. */
export function cut(text: string, most: number): string {
  const characters = [...text]
  return characters.length <= most ? text : `${characters.slice(0, most - 1).join('')}…`
}

/** `0.05` and `SOL`; for a naira tip `$5.00` and an empty token. */
export function amountParts(amount: number, tokenSymbol: string): { amount: string; token: string } {
  if (tokenSymbol === fiatSymbol) return { amount: usd(amount), token: '' }
  const shown = amount.toLocaleString('en-US', { maximumSignificantDigits: significantDigits })
  return { amount: shown, token: shortAddress(tokenSymbol) }
}

/** `0.05 SOL`; for a naira tip `$5`. */
export function amountText(amount: number, tokenSymbol: string): string {
  if (tokenSymbol === fiatSymbol) return shortUsd(amount)
  const parts = amountParts(amount, tokenSymbol)
  return `${parts.amount} ${parts.token}`
}

/** `1 dollar 50 cents`, for screen readers. */
export function spokenUsd(amount: number): string {
  const cents = Math.round(amount * 100)
  const counted = (count: number, unit: string): string => `${count} ${unit}${count === 1 ? '' : 's'}`
  const parts = [
    ...(cents >= 100 || cents === 0 ? [counted(Math.floor(cents / 100), 'dollar')] : []),
    ...(cents % 100 === 0 ? [] : [counted(cents % 100, 'cent')]),
  ]
  return parts.join(' ')
}
