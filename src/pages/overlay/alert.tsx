import { words } from '../i18n/overlay.js'
import { amountParts, cut, senderText } from '../lib/tip-text.js'
import type { Parameters } from './parameters.js'
import type { Phase } from './player.js'
import type { Alert } from './queue.js'
import { fillTemplate } from './template.js'

const senderLength = 40
const messageLength = 200

type AlertCardProps = { alert: Alert; phase: Phase; parameters: Parameters }

/** One alert. Text from strangers is rendered as text inside `<bdi>`: it cannot become markup or change the text direction. */
export function AlertCard({ alert, phase, parameters }: AlertCardProps) {
  if (alert.kind === 'more')
    return (
      <article class={`tip tip--${phase}`} data-count={alert.more.count}>
        <p class="tip__line">{words.more(alert.more.count, alert.more.usd)}</p>
      </article>
    )
  const { tip } = alert
  const values = {
    sender: senderText(tip.senderName ?? tip.sender, senderLength),
    ...amountParts(tip.amount, tip.tokenSymbol),
  }
  const message = parameters.message ? tip.message?.trim() : undefined
  return (
    <article class={`tip tip--${phase}`} data-token={tip.tokenSymbol} data-amount-usd={tip.valueUsd}>
      <p class="tip__line">
        {fillTemplate(parameters.template, values).map(({ kind, text }) =>
          kind === 'text' ? text : <bdi class={`tip__${kind}`}>{text}</bdi>,
        )}
      </p>
      {message && (
        <p class="tip__message">
          <bdi>{cut(message, messageLength)}</bdi>
        </p>
      )}
    </article>
  )
}
