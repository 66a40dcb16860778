import { words } from '../i18n/overlay.js'
import { shortNgn } from '../lib/money.js'
import { amountParts, cut, senderText } from '../lib/tip-text.js'
import { lookFor, type OverlayLook } from './look.js'
import type { Phase } from './player.js'
import type { Alert, Tip } from './queue.js'
import { fillTemplate, type Part } from './template.js'

const senderLength = 40
const messageLength = 200

/** What an alert says. Naira are announced as naira. */
function lineOf(tip: Tip, template: string): Part[] {
  const { amountNgn, senderName, sender } = tip
  const amount =
    amountNgn === undefined
      ? amountParts(tip.amount, tip.tokenSymbol)
      : { amount: shortNgn(amountNgn), token: '' }
  return fillTemplate(template, { sender: senderText(senderName ?? sender, senderLength), ...amount })
}

function messageOf(tip: Tip, isShown: boolean): string | undefined {
  const message = isShown ? tip.message?.trim() : undefined
  return message && cut(message, messageLength)
}

/** The alert as a text to read out. */
export function spokenText(tip: Tip, settings: OverlayLook): string {
  const line = lineOf(tip, lookFor(settings, tip.valueUsd).template).map(({ text }) => text)
  return [line.join(''), messageOf(tip, settings.message)].filter(Boolean).join('. ')
}

type AlertCardProps = { alert: Alert; phase: Phase; settings: OverlayLook }

/** One alert. Text from strangers is rendered as text inside `<bdi>`: it cannot become markup or change the text direction. */
export function AlertCard({ alert, phase, settings }: AlertCardProps) {
  if (alert.kind === 'more')
    return (
      <article class={`tip tip--${phase}`} data-count={alert.more.count}>
        <p class="tip__line">{words.more(alert.more.count, alert.more.usd)}</p>
      </article>
    )
  const { tip } = alert
  const { template, picture } = lookFor(settings, tip.valueUsd)
  const message = messageOf(tip, settings.message)
  return (
    <article class={`tip tip--${phase}`} data-token={tip.tokenSymbol} data-amount-usd={tip.valueUsd}>
      {picture !== undefined && (
        <img
          class="tip__picture"
          src={`${location.pathname.replace(/\/$/, '')}/pictures/${picture}`}
          alt=""
        />
      )}
      <p class="tip__line">
        {lineOf(tip, template).map(({ kind, text }) =>
          kind === 'text' ? text : <bdi class={`tip__${kind}`}>{text}</bdi>,
        )}
      </p>
      {message && (
        <p class="tip__message">
          <bdi>{message}</bdi>
        </p>
      )}
    </article>
  )
}
