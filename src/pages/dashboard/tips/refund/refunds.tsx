import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { words } from '../../../i18n/dashboard.js'
import { ngn, usd } from '../../../lib/money.js'
import { Button } from '../../../ui/controls/button.js'
import { Notice } from '../../../ui/messages/notice.js'
import type { ListedTip } from '../../answers.js'
import { momentText } from '../../dates.js'
import { FaultNotice } from '../../parts/fault-notice.js'
import { Status } from '../../parts/status.js'
import { isOver, useLoad } from '../../use-load.js'
import { usePolling } from '../../use-polling.js'
import { givenBack, isRefundable, type Refund } from './amounts.js'
import { RefundForm } from './refund-form.js'

const pollEveryMs = 5000

/** What was given back of a paid naira tip, and the form that gives it back. */
export function Refunds({
  tip,
  onGivenBack,
}: {
  readonly tip: ListedTip
  /** How much of the tip's amount is given back by now. */
  readonly onGivenBack: (dollars: number) => void
}): JSX.Element {
  const [asking, setAsking] = useState(false)
  const load = useLoad<{ refunds: readonly Refund[] }>(
    `/creators/tips/${encodeURIComponent(tip.signature)}/refunds`,
  )
  const { data, fault, reload } = load
  const refunds = data?.refunds ?? []
  const section = useRef<HTMLElement>(null)
  const close = (): void => {
    setAsking(false)
    // The button with the focus is gone.
    section.current?.focus()
  }
  usePolling(
    reload,
    pollEveryMs,
    refunds.some(({ status }) => status === 'pending'),
  )
  const given = data && givenBack(data.refunds)
  const before = useRef<number>(undefined)
  useEffect(() => {
    // What went back otherwise is part of the tip's figure, and not of these.
    if (given !== undefined && before.current !== undefined && given !== before.current)
      onGivenBack(Math.round(((tip.refundedAmount ?? 0) + given - before.current) * 100) / 100)
    before.current = given
    // Only news of the refunds.
  }, [given])
  return (
    <section ref={section} tabIndex={-1} class="stack" aria-label={words.refund.title}>
      {tip.disputed === true && (
        <Notice tone="warn" icon="wait">
          <strong>{words.refund.disputed}</strong>
          <p>{words.refund.disputedMore}</p>
        </Notice>
      )}
      <FaultNotice fault={fault} tone="warn" onRetry={reload} />
      {refunds.length > 0 && (
        <ul class="rows">
          {refunds.map((refund) => (
            <li key={refund.id} class="rows__row refund">
              <span class="row">
                <strong class="number">
                  {words.refund.parts(usd(refund.amountUSD), ngn(refund.amountNGN))}
                </strong>
                <Status status={refund.status} />
              </span>
              <p class="quiet">{resultOf(refund)}</p>
              {refund.failureReason && (
                <blockquote class="quote">
                  <bdi>{refund.failureReason}</bdi>
                </blockquote>
              )}
              <time class="quiet" dateTime={refund.createdAt}>
                {momentText(refund.createdAt)}
              </time>
            </li>
          ))}
        </ul>
      )}
      {!isOver(load) ? (
        <p class="quiet">{words.loading}</p>
      ) : asking && isRefundable(tip) ? (
        <RefundForm
          tip={tip}
          onDone={() => {
            close()
            reload()
          }}
          onCancel={close}
        />
      ) : (
        isRefundable(tip) && <Button onPress={() => setAsking(true)}>{words.refund.open}</Button>
      )}
    </section>
  )
}

function resultOf({ status, amountUSDC }: Refund): string {
  return words.refund.results[status](usd(amountUSDC))
}
