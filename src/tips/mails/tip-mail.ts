import { displayText } from '../../kernel/money.js'
import { maskAddress } from '../../kernel/text.js'
import { emailLayout } from '../../mail/layout.js'
import type { EmailContent } from '../../mail/queue-email.js'
import { microUsd, type PricedTip, symbolOf } from '../read/present.js'
import { fiatSymbol } from '../schemas.js'
import type { TipMailChoice } from './choose-tip-mails.js'

/** Tips that a mail lists; it counts the others. */
const mostListed = 20

export type MailedTip = Pick<PricedTip, 'mint' | 'decimals' | 'displayRaw' | 'sender' | 'confirmedAt' | 'usd'>

interface MailOptions {
  readonly choice: Exclude<TipMailChoice, 'off'>
  readonly publicUrl: string
}

/**
 * The mail about new tips. It has no names and no messages: strangers write those, and a mail of ours would vouch for them.
 * The dashboard shows them.
 */
export function tipMail(tips: readonly MailedTip[], { choice, publicUrl }: MailOptions): EmailContent {
  const site = new URL(publicUrl).host
  const count = countText(tips.length)
  const more = tips.length - mostListed
  const worth = dollarText(tips.reduce((sum, tip) => sum + microUsd(tip), 0n))
  const each =
    choice === 'each'
      ? [{ list: [...tips.slice(0, mostListed).map(tipLine), ...(more > 0 ? [`and ${more} more`] : [])] }]
      : []
  return emailLayout({
    subject: `You received ${count} at ${site}`,
    blocks: [
      choice === 'daily'
        ? `Good morning. Since your last mail about tips you received ${count} at ${site}, worth about ${worth} today:`
        : `You received ${count} at ${site}, worth about ${worth} today:`,
      ...each,
      ...(choice === 'daily' ? [{ list: totals(tips) }] : []),
      { link: `${publicUrl}/dashboard`, label: 'See who sent them' },
      'You chose these mails in the settings, and can turn them off there.',
    ],
  })
}

function countText(count: number): string {
  return count === 1 ? 'a tip' : `${grouped(String(count))} tips`
}

/** `2 USDC from 9xQe...3kLm, 14:05 UTC` */
function tipLine(tip: MailedTip): string {
  const from = tip.mint === null ? '' : ` from ${maskAddress(tip.sender)}`
  return `${amountText(tip, BigInt(tip.displayRaw))}${from}, ${tip.confirmedAt.toISOString().slice(11, 16)} UTC`
}

function totals(tips: readonly MailedTip[]): string[] {
  const mints = [...new Set(tips.map(({ mint }) => mint))]
  return mints.map((mint) => {
    const same = tips.filter((tip) => tip.mint === mint)
    const units = same.reduce((sum, { displayRaw }) => sum + BigInt(displayRaw), 0n)
    return `${amountText(same[0] as MailedTip, units)} in ${countText(same.length)}`
  })
}

/** The amount of a naira tip is in US cents. */
function amountText({ mint, decimals }: MailedTip, units: bigint): string {
  const symbol = symbolOf(mint)
  const amount = grouped(displayText(units, decimals))
  return symbol === fiatSymbol ? `USD ${amount} paid in naira` : `${amount} ${symbol}`
}

function dollarText(micro: bigint): string {
  const [whole = '0', fraction = ''] = displayText(micro / 10_000n, 2).split('.')
  return `USD ${grouped(whole)}.${fraction.padEnd(2, '0')}`
}

function grouped(number: string): string {
  const [whole = '0', fraction] = number.split('.')
  return `${whole.replace(/\B(?=(\d{3})+$)/g, ',')}${fraction === undefined ? '' : `.${fraction}`}`
}
