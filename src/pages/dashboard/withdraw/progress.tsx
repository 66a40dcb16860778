import { words } from '../../i18n/dashboard.js'
import { ngn, shortNgn, usd } from '../../lib/money.js'
import { Announcer, Button, CopyButton, Notice, Steps } from '../../ui/kit.js'
import type { HeldFor, Payout, PayoutsPage } from '../answers.js'
import { call } from '../api.js'
import { useChange } from '../parts/focus.js'
import { Question } from '../parts/forms.js'
import { FaultNotice } from '../parts/notices.js'
import { useLoad, usePolling } from '../requests.js'
import { useDrawer } from '../route.js'
import { StepUp } from '../security/step-up.js'
import type { Flow } from './flow.js'
import { LessThanPromised } from './lists.js'
import { accountText, holdOf, isCancelled, type Terms } from './rules.js'

const text = words.progress

const pollEveryMs = 2000
/** All are done once it is completed. */
const stageOf = (status: Payout['status']): number =>
  ['pending', 'submitted', 'processing', '', 'completed'].indexOf(status)

type ProgressProps = { reference: string; terms: Terms; onStatusChange: () => void; onRestart: () => void }

/** The progress of a withdrawal, polled from the history until it is completed or failed. */
export function Progress({ reference, terms, onStatusChange, onRestart }: ProgressProps) {
  const { data, fault, reload } = useLoad<PayoutsPage>(
    `/payouts/history?reference=${encodeURIComponent(reference)}`,
  )
  const payout = data?.payouts[0]
  const over = payout?.status === 'completed' || payout?.status === 'failed'
  usePolling(reload, pollEveryMs, !over)
  useChange(payout?.status, onStatusChange)
  const hold = payout && holdOf(payout)
  const missing = data !== undefined && payout === undefined
  return (
    <>
      <StepMarks step="progress" />
      <Announcer text={payout === undefined ? '' : headOf(payout)} />
      <h2>{payout === undefined ? (missing ? text.missing : words.loading) : headOf(payout)}</h2>
      <FaultNotice fault={fault} tone="warn" />
      {payout !== undefined && (
        <>
          {payout.status === 'failed' ? (
            <Failed payout={payout} />
          ) : (
            <Steps stacked steps={Object.values(text.stages)} at={stageOf(payout.status)} />
          )}
          <LessThanPromised payout={payout} />
          {hold !== undefined && <Hold payout={payout} hold={hold} terms={terms} onChanged={reload} />}
          <p class="row">
            <span>
              <span class="quiet">{text.reference}</span> <code>{payout.reference}</code>
            </span>
            <CopyButton value={payout.reference} label={text.reference} />
          </p>
        </>
      )}
      <Button kind={over ? 'primary' : 'plain'} text={text.another} onPress={onRestart} />
    </>
  )
}

const heldHeads = {
  identity: text.held,
  confirmation: text.confirm,
  dispute: text.onHold,
  breaker: text.onHold,
} as const satisfies Record<HeldFor, string>

function headOf(payout: Payout): string {
  const hold = holdOf(payout)
  if (hold !== undefined) return heldHeads[hold]
  if (isCancelled(payout)) return text.cancelled(ngn(payout.amountNGN))
  return text.heads[payout.status](ngn(payout.amountNGN), payout.accountName)
}

function Failed({ payout }: { readonly payout: Payout }) {
  const reason = payout.failureReason
  if (isCancelled(payout)) return <Notice tone="plain" icon="tick" text={text.moneyBack} />
  return (
    <Notice tone="bad" icon="cross" urgent>
      {reason && (
        <blockquote class="quote">
          <bdi>{reason}</bdi>
        </blockquote>
      )}
      <p>{words.withdraw.unchanged}</p>
    </Notice>
  )
}

const cancelDrawer = 'cancel-withdrawal'

type HoldProps = { payout: Payout; hold: HeldFor; terms: Terms; onChanged: () => void }

function Hold({ payout, hold, terms, onChanged }: HoldProps) {
  const drawer = useDrawer()
  const path = `/payouts/${encodeURIComponent(payout.reference)}`
  if (hold === 'dispute') return <Notice tone="warn" icon="wait" text={text.onHoldMore} />
  return (
    <>
      {hold === 'confirmation' ? (
        <StepUp
          request={async (proof) => {
            await call('POST', `${path}/confirm`, { body: proof })
            onChanged()
          }}
          mailAgain={async () => {
            await call('POST', `${path}/confirm/resend`, { body: {} })
            return true
          }}
          young={words.confirmation.young}
        >
          {words.confirmation.why(ngn(payout.amountNGN), accountText(payout))}
        </StepUp>
      ) : (
        <Notice
          tone="warn"
          icon="wait"
          text={
            hold === 'breaker'
              ? text.waitsTurn
              : text.heldMore(shortNgn(terms.identitySingleNgn), shortNgn(terms.identityDailyNgn))
          }
        />
      )}
      <Button kind="quiet" text={words.cancelling.open} onPress={() => drawer.show(cancelDrawer)} />
      {drawer.open === cancelDrawer && (
        <Question
          title={words.cancelling.title}
          effect={words.cancelling.effect(usd(payout.amountUSDC))}
          submit={words.cancelling.submit}
          cancel={words.cancelling.keep}
          act={() => call('POST', `${path}/cancel`, { body: {} })}
          onClose={drawer.close}
          onDone={onChanged}
        />
      )}
    </>
  )
}

const { steps } = words.withdraw

export function StepMarks({ step }: { step: Flow['step'] | 'progress' }) {
  const at = step === 'refused' ? 2 : Object.keys(steps).indexOf(step)
  return <Steps steps={Object.values(steps)} at={at === -1 ? 3 : at} />
}
