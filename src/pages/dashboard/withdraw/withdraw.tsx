import type { JSX } from 'preact'
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { Button } from '../../ui/controls/button.js'
import { Announcer } from '../../ui/messages/announcer.js'
import { Notice } from '../../ui/messages/notice.js'
import type { Balance, Rate } from '../answers.js'
import { useRate } from '../parts/use-rate.js'
import { go, useRoute } from '../route.js'
import { useLoad } from '../use-load.js'
import { AmountStep } from './amount-step.js'
import { BankStep } from './bank-step.js'
import type { Flow } from './flow.js'
import { History } from './history.js'
import { Progress } from './progress.js'
import { ReviewStep } from './review-step.js'
import { StepMarks } from './step-marks.js'
import { termsOfPage } from './terms.js'
import { useWithdrawal } from './use-withdrawal.js'

/** A withdrawal to a Nigerian bank account in four steps, with the history below. */
export function Withdraw(): JSX.Element {
  const { query } = useRoute()
  const { flow, dispatch } = useWithdrawal()
  const balance = useLoad<{ balance: Balance }>('/creators/balance')
  const rate = useRate()
  const [historyVersion, setHistoryVersion] = useState(0)
  const reloadHistory = useCallback(() => setHistoryVersion((before) => before + 1), [])
  const reference = query.get('reference') ?? undefined
  useEffect(() => {
    if (flow.step !== 'accepted') return
    go('withdraw', new URLSearchParams({ reference: flow.answer.reference }))
    dispatch({ type: 'restart' })
  }, [flow, dispatch])
  const shown = flow.step === 'amount' && flow.fault === undefined ? reference : undefined
  return (
    <div class="withdraw">
      <section class="card">
        {shown === undefined ? (
          <Step flow={flow} dispatch={dispatch} available={balance.data?.balance.availableUSDC} rate={rate} />
        ) : (
          <Progress
            key={shown}
            reference={shown}
            onStatusChange={reloadHistory}
            onRestart={() => {
              balance.reload()
              go('withdraw')
            }}
          />
        )}
      </section>
      <History version={historyVersion} />
    </div>
  )
}

interface StepProps {
  readonly flow: Flow
  readonly dispatch: ReturnType<typeof useWithdrawal>['dispatch']
  readonly available: number | undefined
  readonly rate: Rate | undefined
}

function Step({ flow, dispatch, available, rate }: StepProps): JSX.Element {
  const heading = useRef<HTMLHeadingElement>(null)
  const first = useRef(true)
  const title = words.withdraw.titles[flow.step]
  useEffect(() => {
    if (!first.current) heading.current?.focus()
    first.current = false
    // Each new step focuses its heading.
  }, [flow.step])
  return (
    <>
      <StepMarks step={flow.step} />
      <Announcer text={title} />
      <h2 ref={heading} tabIndex={-1}>
        {title}
      </h2>
      <StepBody flow={flow} dispatch={dispatch} available={available} rate={rate} />
    </>
  )
}

function StepBody({ flow, dispatch, available, rate }: StepProps): JSX.Element {
  const terms = termsOfPage()
  switch (flow.step) {
    case 'amount':
      return <AmountStep {...{ flow, dispatch, available, rate, terms }} />
    case 'bank':
      return <BankStep {...{ flow, dispatch }} />
    case 'review':
      return <ReviewStep {...{ flow, dispatch, rate, terms }} />
    case 'refused':
      return (
        <>
          <Notice tone="bad" icon="cross" urgent>
            <strong>{words.withdraw.refused}</strong>
            <blockquote class="quote">
              <bdi>{flow.reason}</bdi>
            </blockquote>
            <p>{words.withdraw.unchanged}</p>
          </Notice>
          <Button kind="primary" onPress={() => dispatch({ type: 'change-account' })}>
            {words.withdraw.otherAccount}
          </Button>
          <Button onPress={() => dispatch({ type: 'restart' })}>{words.withdraw.restart}</Button>
        </>
      )
    default:
      return (
        <Notice
          tone={flow.step === 'checking' ? 'warn' : 'plain'}
          icon="wait"
          urgent={flow.step === 'checking'}
        >
          <strong>{flow.step === 'checking' ? words.withdraw.checking : words.withdraw.sending}</strong>
          <p>{flow.step === 'checking' ? words.withdraw.checkingMore : words.withdraw.sendingMore}</p>
        </Notice>
      )
  }
}
