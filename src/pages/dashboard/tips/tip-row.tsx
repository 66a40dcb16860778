import type { JSX } from 'preact'
import { words } from '../../i18n/dashboard.js'
import { shortNgn, usd } from '../../lib/money.js'
import { amountText, cut, fiatSymbol, paidWords, senderText } from '../../lib/tip-text.js'
import { Icon } from '../../ui/icon.js'
import type { ListedTip, Rate } from '../answers.js'
import { agoText, momentText } from '../dates.js'
import { Status } from '../parts/status.js'
import { nairaText } from '../parts/use-rate.js'

const senderLength = 60
const messageLength = 160

/** The amount that was paid: naira for a naira tip, otherwise the token amount. */
export function paidText({ amount, tokenSymbol, fiatDetails }: ListedTip): string {
  return fiatDetails === null ? amountText(amount, tokenSymbol) : shortNgn(fiatDetails.amountNgn)
}

export function isOnChain({ tokenSymbol }: Pick<ListedTip, 'tokenSymbol'>): boolean {
  return tokenSymbol !== fiatSymbol
}

/** The value in naira at the current rate. Undefined for a naira tip, which shows the naira that were paid. */
export function nairaOf(
  { fiatDetails, valueUsd }: Pick<ListedTip, 'fiatDetails' | 'valueUsd'>,
  rate: Rate | undefined,
): string | undefined {
  return fiatDetails === null ? nairaText(valueUsd, rate) : undefined
}

/** A list of tips. `onOpen` gets the signature of the tip whose details are to be shown. */
export function TipRows({
  tips,
  rate,
  now,
  onOpen,
}: {
  readonly tips: readonly ListedTip[]
  readonly rate: Rate | undefined
  readonly now: number
  readonly onOpen: (signature: string) => void
}): JSX.Element {
  return (
    <ul class="rows">
      {tips.map((tip) => (
        <TipRow key={tip.signature} tip={tip} rate={rate} now={now} onOpen={() => onOpen(tip.signature)} />
      ))}
    </ul>
  )
}

/** One tip of a list. The whole row opens the details. */
function TipRow({
  tip,
  rate,
  now,
  onOpen,
}: {
  readonly tip: ListedTip
  readonly rate: Rate | undefined
  readonly now: number
  readonly onOpen: () => void
}): JSX.Element {
  const { timestamp, valueUsd, status } = tip
  const { sender, message } = paidWords(tip)
  const naira = nairaOf(tip, rate)
  return (
    <li class="rows__row">
      <button type="button" class="tip-row" onClick={onOpen}>
        <span class="tip-row__kind" title={isOnChain(tip) ? words.tips.crypto : words.tips.naira}>
          <Icon name={isOnChain(tip) ? 'wallet' : 'bank'} />
        </span>
        <span class="tip-row__what">
          <span>
            <bdi class="tip-row__sender">{senderText(sender, senderLength)}</bdi> {words.tips.tipped}{' '}
            <span class="number tip-row__paid">{paidText(tip)}</span>
          </span>
          {message && <bdi class="tip-row__message">“{cut(message, messageLength)}”</bdi>}
          {status !== 'confirmed' && <Status status={status} />}
          {tip.disputed === true && (
            <span class="status status--warn">
              <Icon name="wait" size={14} />
              {words.refund.isDisputed}
            </span>
          )}
          {tip.refundedAmount !== undefined && (
            <span class="quiet">{words.refund.given(usd(tip.refundedAmount))}</span>
          )}
        </span>
        <span class="tip-row__right">
          <span class="number tip-row__value">{usd(valueUsd)}</span>
          {naira !== undefined && <span class="quiet number">{naira}</span>}
          <time class="quiet" dateTime={timestamp} title={momentText(timestamp)}>
            {agoText(timestamp, now)}
          </time>
        </span>
      </button>
    </li>
  )
}
