import type { JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { words } from '../../../i18n/dashboard.js'
import { ngn } from '../../../lib/money.js'
import { Button } from '../../../ui/controls/button.js'
import { CopyButton } from '../../../ui/controls/copy-button.js'
import { Icon } from '../../../ui/icon.js'
import { Announcer } from '../../../ui/messages/announcer.js'
import { Notice } from '../../../ui/messages/notice.js'
import type { HeldFor, Payout } from '../../answers.js'
import { useLoad } from '../../use-load.js'
import { usePolling } from '../../use-polling.js'
import type { Terms } from '../amounts.js'
import { LessThanPromised } from '../history.js'
import { holdOf, isCancelled } from '../holds.js'
import { StepMarks } from '../step-marks.js'
import { Hold } from './hold.js'

const pollEveryMs = 2000
const stages = ['pending', 'submitted', 'processing', 'completed'] as const

/** The progress of a withdrawal, polled from the history until it is completed or failed. */
export function Progress({
  reference,
  terms,
  onStatusChange,
  onRestart,
}: {
  readonly reference: string
  readonly terms: Terms
  readonly onStatusChange: () => void
  readonly onRestart: () => void
}): JSX.Element {
  const { data, fault, reload } = useLoad<{ payouts: readonly Payout[] }>(
    `/payouts/history?reference=${encodeURIComponent(reference)}`,
  )
  const payout = data?.payouts[0]
  const over = payout?.status === 'completed' || payout?.status === 'failed'
  usePolling(reload, pollEveryMs, !over)
  const status = payout?.status
  const seen = useRef<Payout['status'] | undefined>(undefined)
  useEffect(() => {
    if (seen.current !== undefined && seen.current !== status) onStatusChange()
    seen.current = status
  }, [status, onStatusChange])
  const hold = payout && holdOf(payout)
  const missing = data !== undefined && payout === undefined
  return (
    <>
      <StepMarks step="progress" />
      <Announcer text={payout === undefined ? '' : headOf(payout)} />
      <h2>{payout === undefined ? (missing ? words.progress.missing : words.loading) : headOf(payout)}</h2>
      {fault !== undefined && <p class="quiet">{words.fault(fault)}</p>}
      {payout !== undefined && <Stages payout={payout} />}
      {payout !== undefined && <LessThanPromised payout={payout} />}
      {payout !== undefined && hold !== undefined && (
        <Hold payout={payout} hold={hold} terms={terms} onChanged={reload} />
      )}
      {payout?.status === 'failed' && <Failed payout={payout} />}
      {payout !== undefined && (
        <p class="row">
          <span>
            <span class="quiet">{words.progress.reference}</span> <code>{payout.reference}</code>
          </span>
          <CopyButton value={payout.reference} label={words.progress.reference} />
        </p>
      )}
      <Button kind={over ? 'primary' : 'plain'} onPress={onRestart}>
        {words.progress.another}
      </Button>
    </>
  )
}

const heldHeads = {
  identity: words.progress.held,
  confirmation: words.progress.confirm,
  dispute: words.progress.onHold,
  breaker: words.progress.onHold,
} as const satisfies Record<HeldFor, string>

function headOf(payout: Payout): string {
  const hold = holdOf(payout)
  if (hold !== undefined) return heldHeads[hold]
  if (isCancelled(payout)) return words.progress.cancelled(ngn(payout.amountNGN))
  return words.progress.heads[payout.status](ngn(payout.amountNGN), payout.accountName)
}

function Stages({ payout }: { readonly payout: Payout }): JSX.Element | null {
  if (payout.status === 'failed') return null
  const reached = stages.indexOf(payout.status)
  const done = payout.status === 'completed' ? reached + 1 : reached
  const stateOf = (index: number): string => (index < done ? 'done' : index === reached ? 'now' : 'open')
  return (
    <ol class="timeline">
      {stages.map((stage, index) => (
        <li
          key={stage}
          class={`timeline__point timeline__point--${stateOf(index)}`}
          aria-current={index === reached ? 'step' : undefined}
        >
          {words.progress.stages[stage]}
          {index < done && <Icon name="tick" size={14} />}
        </li>
      ))}
    </ol>
  )
}

function Failed({ payout }: { readonly payout: Payout }): JSX.Element {
  const reason = payout.failureReason
  if (isCancelled(payout))
    return (
      <Notice tone="plain" icon="tick">
        {words.progress.moneyBack}
      </Notice>
    )
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
