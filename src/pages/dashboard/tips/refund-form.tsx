import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { pause } from '../../../sdk/client/wait.js'
import { words } from '../../i18n/dashboard.js'
import { isUnanswered } from '../../lib/failures.js'
import { ngn, usd, usdBelow } from '../../lib/money.js'
import { Button } from '../../ui/controls/button.js'
import { Field } from '../../ui/controls/field.js'
import { Form } from '../../ui/controls/form.js'
import { Announcer } from '../../ui/messages/announcer.js'
import { Notice } from '../../ui/messages/notice.js'
import type { Balance, ListedTip } from '../answers.js'
import { call } from '../api.js'
import { FaultNotice } from '../parts/notices.js'
import { useLoad, useSubmit } from '../requests.js'
import { type ConfirmationProof, needsStepUp, StepUp } from '../security/step-up.js'
import { estimateRefund, leftCents, refundCents } from './refund-amounts.js'

/** Pauses before the same refund is asked for again; the last one repeats. */
const pausesMs = [1000, 2000, 4000, 8000]

/** How much of a tip goes back and what that means. Its button gives it back. */
export function RefundForm({
  tip,
  onDone,
  onCancel,
}: {
  readonly tip: ListedTip
  readonly onDone: () => void
  readonly onCancel: () => void
}): JSX.Element {
  const [amount, setAmount] = useState((leftCents(tip) / 100).toFixed(2))
  const [checking, setChecking] = useState(false)
  const [confirming, setConfirming] = useState(false)
  const balance = useLoad<Balance>('/creators/balance')
  const closed = useRef(new AbortController())
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => {
    input.current?.focus()
    return () => closed.current.abort()
  }, [])
  const wanted = refundCents(amount, tip)
  const giveBack = async (proof: ConfirmationProof): Promise<void> => {
    if (typeof wanted === 'string') return
    // Without an amount all that is left goes back.
    const amountUSD = wanted === leftCents(tip) ? undefined : wanted / 100
    const sent = { body: { amountUSD, ...proof }, idempotencyKey: crypto.randomUUID() }
    try {
      await refundUntilAnswered(tip.signature, sent, () => setChecking(true), closed.current.signal)
      onDone()
    } finally {
      setChecking(false)
      balance.reload()
    }
  }
  const send = useSubmit(async () => setConfirming(await needsStepUp(giveBack)))
  const moves = typeof wanted === 'string' ? undefined : estimateRefund(tip, wanted)
  // Of a card payment it is taken from what is pending.
  const available = balance.data && balance.data.balance.availableUSDC + balance.data.balance.pendingUSDC
  const missing = missingOf(moves?.leavesUsd, available)
  if (confirming && typeof wanted !== 'string')
    return (
      <StepUp request={giveBack} onCancel={() => setConfirming(false)}>
        {words.refund.submit(usd(wanted / 100))}
      </StepUp>
    )
  return (
    <Form
      noValidate
      onSubmit={() => {
        if (moves !== undefined && missing <= 0) send.run()
      }}
    >
      <h3>{words.refund.title}</h3>
      <Field
        label={words.refund.amount}
        hint={words.refund.left(usd(leftCents(tip) / 100))}
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
      {moves !== undefined && <p>{words.refund.effect(usd(moves.leavesUsd), ngn(moves.payerNgn))}</p>}
      {missing > 0 && available !== undefined && (
        <Notice tone="warn" icon="warn" urgent>
          {words.refund.missing(usdBelow(available), usd(Math.ceil(missing * 100 - 1e-6) / 100))}
        </Notice>
      )}
      <Announcer text={checking ? words.refund.checking : ''} />
      {checking && (
        <Notice tone="warn" icon="wait">
          <strong>{words.refund.checking}</strong>
          <p>{words.refund.checkingMore}</p>
        </Notice>
      )}
      {!(send.fault === 'insufficient_balance' && missing > 0) && (
        <FaultNotice fault={send.fault === 'insufficient_balance' ? 'refund_uncovered' : send.fault} />
      )}
      <Button kind="danger" type="submit" busy={send.busy || moves === undefined || missing > 0}>
        {typeof wanted === 'string' ? words.refund.title : words.refund.submit(usd(wanted / 100))}
      </Button>
      {!send.busy && <Button onPress={onCancel}>{words.refund.keep}</Button>}
    </Form>
  )
}

function missingOf(leavesUsd: number | undefined, available: number | undefined): number {
  return leavesUsd !== undefined && available !== undefined ? leavesUsd - available : 0
}

/** Repeats the request under its one key until there is an answer, so a lost answer gives nothing back twice. */
async function refundUntilAnswered(
  tipId: string,
  sent: { readonly body: unknown; readonly idempotencyKey: string },
  onLost: () => void,
  signal: AbortSignal,
): Promise<void> {
  for (let tries = 0; ; tries++)
    try {
      await call('POST', `/creators/tips/${encodeURIComponent(tipId)}/refund`, { ...sent, signal })
      return
    } catch (error) {
      if (signal.aborted || !isUnanswered(error)) throw error
      onLost()
      await pause(pausesMs[Math.min(tries, pausesMs.length - 1)] ?? 0, signal)
    }
}
