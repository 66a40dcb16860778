import type { JSX } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { ngn, usd } from '../../lib/money.js'
import { Button } from '../../ui/controls/button.js'
import { Notice } from '../../ui/messages/notice.js'
import type { ListedTip, Refunds } from '../answers.js'
import { momentText } from '../dates.js'
import { useChange } from '../parts/focus.js'
import { FaultNotice, Loading } from '../parts/notices.js'
import { Status } from '../parts/rows.js'
import { useLoad, usePolling } from '../requests.js'
import { givenBack, isRefundable } from './refund-amounts.js'
import { RefundForm } from './refund-form.js'

const pollEveryMs = 5000

/** What was given back of a paid naira tip, and the form that gives it back. */
export function GivenBack({
  tip,
  onGivenBack,
}: {
  readonly tip: ListedTip
  /** How much of the tip's amount is given back by now. */
  readonly onGivenBack: (dollars: number) => void
}): JSX.Element {
  const [asking, setAsking] = useState(false)
  const { data, fault, isOver, reload } = useLoad<Refunds>(
    `/creators/tips/${encodeURIComponent(tip.signature)}/refunds`,
  )
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
  // What went back otherwise is part of the tip's figure, and not of these.
  useChange(given, (before) =>
    onGivenBack(Math.round(((tip.refundedAmount ?? 0) + (given ?? 0) - before) * 100) / 100),
  )
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
              <p class="quiet">{words.refund.results[refund.status](usd(refund.amountUSDC))}</p>
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
      {!isOver ? (
        <Loading />
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
