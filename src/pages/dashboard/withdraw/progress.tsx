import type { JSX } from 'preact'
import { useEffect } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { ngn, shortNgn } from '../../lib/money.js'
import { Announcer } from '../../ui/announcer.js'
import { Button } from '../../ui/button.js'
import { CopyButton } from '../../ui/copy-button.js'
import { Icon } from '../../ui/icon.js'
import { Notice } from '../../ui/notice.js'
import type { Payout } from '../answers.js'
import { useEvery } from '../use-every.js'
import { useLoad } from '../use-load.js'
import { StepMarks } from './step-marks.js'
import { termsOfPage } from './terms.js'

const askEveryMs = 2000
const stages = ['pending', 'submitted', 'processing', 'completed'] as const

/** How far a withdrawal is, as the history says, until it is over. */
export function Progress({
  reference,
  onMoved,
  onRestart,
}: {
  readonly reference: string
  /** Told whenever it is further. */
  readonly onMoved: () => void
  readonly onRestart: () => void
}): JSX.Element {
  const { data, fault, reload } = useLoad<{ payouts: readonly Payout[] }>(
    `/payouts/history?reference=${encodeURIComponent(reference)}`,
  )
  const payout = data?.payouts[0]
  const over = payout?.status === 'completed' || payout?.status === 'failed'
  useEvery(reload, askEveryMs, !over)
  const status = payout?.status
  useEffect(() => {
    if (status !== undefined) onMoved()
  }, [status, onMoved])
  const missing = data !== undefined && payout === undefined
  return (
    <>
      <StepMarks step="progress" />
      <Announcer text={payout === undefined ? '' : headOf(payout)} />
      <h2>{payout === undefined ? (missing ? words.progress.missing : words.loading) : headOf(payout)}</h2>
      {fault !== undefined && <p class="quiet">{words.fault(fault)}</p>}
      {payout !== undefined && <Stages payout={payout} />}
      {payout?.requiresVerification && <Held />}
      {payout?.status === 'failed' && (
        <Notice tone="bad" icon="cross" urgent>
          {payout.failureReason && (
            <blockquote class="quote">
              <bdi>{payout.failureReason}</bdi>
            </blockquote>
          )}
          <p>{words.withdraw.unchanged}</p>
        </Notice>
      )}
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

function headOf({ status, requiresVerification, amountNGN, accountName }: Payout): string {
  if (requiresVerification) return words.progress.held
  return words.progress.heads[status](ngn(amountNGN), accountName)
}

function Stages({ payout }: { readonly payout: Payout }): JSX.Element | null {
  if (payout.status === 'failed') return null
  const reached = stages.indexOf(payout.status)
  const done = payout.status === 'completed' ? reached + 1 : reached
  const look = (index: number): string => (index < done ? 'done' : index === reached ? 'now' : 'open')
  return (
    <ol class="timeline">
      {stages.map((stage, index) => (
        <li
          key={stage}
          class={`timeline__point timeline__point--${look(index)}`}
          aria-current={index === reached ? 'step' : undefined}
        >
          {words.progress.stages[stage]}
          {index < done && <Icon name="tick" size={14} />}
        </li>
      ))}
    </ol>
  )
}

function Held(): JSX.Element {
  const { identitySingleNgn, identityDailyNgn } = termsOfPage()
  return (
    <Notice tone="warn" icon="wait">
      {words.progress.heldMore(shortNgn(identitySingleNgn), shortNgn(identityDailyNgn))}
    </Notice>
  )
}
