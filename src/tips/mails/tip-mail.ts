import { displayText, groupedText, nairaText } from '../../kernel/money.js'
import { maskAddress } from '../../kernel/text.js'
import { type EmailContent, quoteInMail } from '../../mail/layout.js'
import { microUsd, type PricedTip, symbolOf, withheldName } from '../read/present.js'
import { fiatSymbol } from '../schemas.js'
import type { TipMailChoice } from './choose-tip-mails.js'

/** Tips that a mail lists; it counts the others. */
const mostListed = 20

export type MailedTip = Pick<
  PricedTip,
  | 'mint'
  | 'decimals'
  | 'displayRaw'
  | 'sender'
  | 'senderName'
  | 'message'
  | 'fiatDetails'
  | 'confirmedAt'
  | 'usd'
>

interface MailOptions {
  readonly choice: Exclude<TipMailChoice, 'off'>
  readonly publicUrl: string
  /** The page that turns these mails off. */
  readonly stopUrl: string
}

/**
 * The mail about new tips, the newest first. Strangers write the names and messages, so they are quoted as `quoteInMail` does, and who
 * pays anonymously is quoted with nothing.
 */
export function tipMail(
  tips: readonly MailedTip[],
  { choice, publicUrl, stopUrl }: MailOptions,
): EmailContent {
  const site = new URL(publicUrl).host
  const count = countText(tips.length)
  const more = tips.length - mostListed
  const worth = dollarText(tips.reduce((sum, tip) => sum + microUsd(tip), 0n))
  const each =
    choice === 'each'
      ? [
          {
            list: [
              ...tips.slice(-mostListed).reverse().map(tipLine),
              ...(more > 0 ? [`and ${more} more`] : []),
            ],
          },
        ]
      : []
  return {
    subject: `You received ${count} at ${site}`,
    blocks: [
      choice === 'daily'
        ? `Good morning. Since your last mail about tips you received ${count} at ${site}, worth about ${worth} today:`
        : `You received ${count} at ${site}, worth about ${worth} today:`,
      ...each,
      ...(choice === 'daily' ? [{ list: totals(tips) }] : []),
      { link: `${publicUrl}/dashboard`, label: 'See them all' },
      choice === 'daily'
        ? 'You get this once a day. To turn it off, without signing in:'
        : 'You get at most one of these in a quarter of an hour; the settings have one a day instead. To turn them off, without signing in:',
      { link: stopUrl, label: 'Turn these e-mails off' },
    ],
  }
}

function countText(count: number): string {
  return count === 1 ? 'a tip' : `${groupedText(String(count))} tips`
}

/** `2 USDC from 9xQe...3kLm, 14:05 UTC: "Great show"` */
function tipLine(tip: MailedTip): string {
  const { mint, sender, senderName, message, fiatDetails, confirmedAt } = tip
  const amount =
    fiatDetails === null
      ? amountText(tip, BigInt(tip.displayRaw))
      : nairaText(BigInt(Math.round(fiatDetails.amountNgn * 100)))
  const at = `, ${confirmedAt.toISOString().slice(11, 16)} UTC`
  if (sender === withheldName) return `${amount}${at}`
  const name = mint === null ? sender : senderName
  const from = name === null ? maskAddress(sender) : `"${quoteInMail(name)}"`
  return `${amount} from ${from}${at}${message ? `: "${quoteInMail(message)}"` : ''}`
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
  const amount = groupedText(displayText(units, decimals))
  return symbol === fiatSymbol ? `USD ${amount} paid in naira` : `${amount} ${symbol}`
}

function dollarText(micro: bigint): string {
  const [whole = '0', fraction = ''] = displayText(micro / 10_000n, 2).split('.')
  return `USD ${groupedText(whole)}.${fraction.padEnd(2, '0')}`
}
