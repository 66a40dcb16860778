import { useEffect, useRef, useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { isUnanswered, untilAnswered } from '../../lib/failures.js'
import { ngn, usd, usdBelow } from '../../lib/money.js'
import { Field, Form } from '../../ui/fields.js'
import { Announcer, Button, Notice } from '../../ui/kit.js'
import type { Balance, ListedTip, Refunds } from '../answers.js'
import { call } from '../api.js'
import { momentText } from '../dates.js'
import { useChange } from '../parts/focus.js'
import { Submit } from '../parts/forms.js'
import { FaultNotice, Loading } from '../parts/notices.js'
import { Status } from '../parts/rows.js'
import { useLoad, usePolling, useSubmit } from '../requests.js'
import { type ConfirmationProof, needsStepUp, StepUp } from '../security/step-up.js'
import { estimateRefund, givenBack, isRefundable, leftKobo, refundKobo } from './refund-amounts.js'

const text = words.refund

const pollEveryMs = 5000
const tipPath = ({ signature }: ListedTip): string => `/creators/tips/${encodeURIComponent(signature)}`

export function GivenBack({ tip, onGivenBack }: { tip: ListedTip; onGivenBack: (dollars: number) => void }) {
  const [asking, setAsking] = useState(false)
  const { data, fault, isOver, reload } = useLoad<Refunds>(`${tipPath(tip)}/refunds`)
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
    <section ref={section} tabIndex={-1} class="stack" aria-label={text.title}>
      {tip.disputed === true && (
        <Notice tone="warn" icon="wait" title={text.disputed} text={text.disputedMore(replyByText(tip))} />
      )}
      <FaultNotice fault={fault} tone="warn" onRetry={reload} />
      {refunds.length > 0 && (
        <ul class="rows">
          {refunds.map((refund) => (
            <li key={refund.id} class="rows__row stack">
              <span class="row">
                <strong class="number">{text.parts(usd(refund.amountUSD), ngn(refund.amountNGN))}</strong>
                <Status status={refund.status} />
              </span>
              <p class="quiet">{text.results[refund.status](usd(refund.amountUSDC))}</p>
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
          left={leftKobo(tip, refunds)}
          onDone={() => {
            close()
            reload()
          }}
          onCancel={close}
        />
      ) : (
        isRefundable(tip) && <Button text={text.open} onPress={() => setAsking(true)} />
      )}
    </section>
  )
}

/** Until when the creator can say something about a disputed tip. Undefined: no more. */
function replyByText({ replyBy }: ListedTip): string | undefined {
  return replyBy !== undefined && Date.parse(replyBy) > Date.now() ? momentText(replyBy) : undefined
}

const pausesMs = [1000, 2000, 4000, 8000]

interface RefundFormProps {
  readonly tip: ListedTip
  /** Kobo that are left of it. */
  readonly left: number
  readonly onDone: () => void
  readonly onCancel: () => void
}

/** How much of a tip goes back, in the naira that were paid, and what that means. Its button gives it back. */
function RefundForm({ tip, left, onDone, onCancel }: RefundFormProps) {
  const [amount, setAmount] = useState((left / 100).toFixed(2))
  const [checking, setChecking] = useState(false)
  const [confirming, setConfirming] = useState(false)
  const balance = useLoad<Balance>('/creators/balance')
  const closed = useRef(new AbortController())
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => {
    input.current?.focus()
    return () => closed.current.abort()
  }, [])
  const wanted = refundKobo(amount, left)
  const giveBack = async (proof: ConfirmationProof): Promise<void> => {
    if (typeof wanted === 'string') return
    // Without an amount all that is left goes back.
    const amountNGN = wanted === left ? undefined : wanted / 100
    const sent = { body: { amountNGN, ...proof }, idempotencyKey: crypto.randomUUID() }
    const { signal } = closed.current
    try {
      // Under its one key a refund whose answer was lost gives nothing back twice.
      await untilAnswered(() => call('POST', `${tipPath(tip)}/refund`, { ...sent, signal }), {
        pausesMs,
        mayRepeat(error) {
          setChecking(isUnanswered(error))
          return isUnanswered(error)
        },
        signal,
      })
      onDone()
    } finally {
      setChecking(false)
      balance.reload()
    }
  }
  const send = useSubmit(async () => setConfirming(await needsStepUp(giveBack)))
  const leavesUsd = typeof wanted === 'string' ? undefined : estimateRefund(tip, wanted)
  // Of a card payment it is taken from what is pending.
  const available = balance.data && balance.data.balance.availableUSDC + balance.data.balance.pendingUSDC
  const missing = missingOf(leavesUsd, available)
  if (confirming && typeof wanted !== 'string')
    return (
      <StepUp request={giveBack} onCancel={() => setConfirming(false)}>
        {text.submit(ngn(wanted / 100))}
      </StepUp>
    )
  return (
    <Form
      noValidate
      onSubmit={() => {
        if (leavesUsd !== undefined && missing <= 0) send.run()
      }}
    >
      <h3>{text.title}</h3>
      <Field
        label={text.amount}
        hint={text.left(ngn(left / 100))}
        fault={typeof wanted === 'string' ? words.fault(wanted) : undefined}
      >
        <input
          ref={input}
          class="input number"
          name="refund"
          inputMode="decimal"
          autocomplete="off"
          value={amount}
          readOnly={send.busy}
          onInput={({ currentTarget }) => {
            setAmount(currentTarget.value)
            send.clear()
          }}
        />
      </Field>
      {leavesUsd !== undefined && typeof wanted !== 'string' && (
        <p>{text.effect(usd(leavesUsd), ngn(wanted / 100))}</p>
      )}
      {missing > 0 && available !== undefined && (
        <Notice
          tone="warn"
          urgent
          text={text.missing(usdBelow(available), usd(Math.ceil(missing * 100 - 1e-6) / 100))}
        />
      )}
      <Announcer text={checking ? text.checking : ''} />
      {checking && <Notice tone="warn" icon="wait" title={text.checking} text={text.checkingMore} />}
      {!(send.fault === 'insufficient_balance' && missing > 0) && (
        <FaultNotice fault={send.fault === 'insufficient_balance' ? 'refund_uncovered' : send.fault} />
      )}
      <Submit
        text={typeof wanted === 'string' ? text.title : text.submit(ngn(wanted / 100))}
        kind="danger"
        busy={send.busy || leavesUsd === undefined || missing > 0}
      />
      {!send.busy && <Button text={text.keep} onPress={onCancel} />}
    </Form>
  )
}

function missingOf(leavesUsd: number | undefined, available: number | undefined): number {
  return leavesUsd !== undefined && available !== undefined ? leavesUsd - available : 0
}
