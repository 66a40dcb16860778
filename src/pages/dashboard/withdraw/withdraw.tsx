import type { JSX } from 'preact'
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { Announcer } from '../../ui/announcer.js'
import { Button } from '../../ui/button.js'
import { Notice } from '../../ui/notice.js'
import type { Balance, Rate } from '../answers.js'
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
import { useRate } from './use-rate.js'
import { useWithdrawal } from './use-withdrawal.js'

/** Money to a Nigerian bank account, in four steps; below it the withdrawals so far. */
export function Withdraw(): JSX.Element {
  const { query } = useRoute()
  const { flow, tell } = useWithdrawal()
  const balance = useLoad<{ balance: Balance }>('/creators/balance')
  const rate = useRate()
  const [moves, setMoves] = useState(0)
  const moved = useCallback(() => setMoves((before) => before + 1), [])
  const reference = query.get('reference') ?? undefined
  useEffect(() => {
    if (flow.step !== 'granted') return
    go('withdraw', new URLSearchParams({ reference: flow.granted.reference }))
    tell({ type: 'restart' })
  }, [flow, tell])
  const shown = flow.step === 'amount' && flow.fault === undefined ? reference : undefined
  return (
    <div class="withdraw">
      <section class="card">
        {shown === undefined ? (
          <Step flow={flow} tell={tell} available={balance.data?.balance.availableUSDC} rate={rate} />
        ) : (
          <Progress
            key={shown}
            reference={shown}
            onMoved={moved}
            onRestart={() => {
              balance.reload()
              go('withdraw')
            }}
          />
        )}
      </section>
      <History moves={moves} />
    </div>
  )
}

interface StepProps {
  readonly flow: Flow
  readonly tell: ReturnType<typeof useWithdrawal>['tell']
  readonly available: number | undefined
  readonly rate: Rate | undefined
}

function Step({ flow, tell, available, rate }: StepProps): JSX.Element {
  const heading = useRef<HTMLHeadingElement>(null)
  const first = useRef(true)
  const title = words.withdraw.titles[flow.step]
  useEffect(() => {
    if (!first.current) heading.current?.focus()
    first.current = false
    // Each step begins at its heading.
  }, [flow.step])
  return (
    <>
      <StepMarks step={flow.step} />
      <Announcer text={title} />
      <h2 ref={heading} tabIndex={-1}>
        {title}
      </h2>
      <StepBody flow={flow} tell={tell} available={available} rate={rate} />
    </>
  )
}

function StepBody({ flow, tell, available, rate }: StepProps): JSX.Element {
  const terms = termsOfPage()
  switch (flow.step) {
    case 'amount':
      return <AmountStep {...{ flow, tell, available, rate, terms }} />
    case 'bank':
      return <BankStep {...{ flow, tell }} />
    case 'review':
      return <ReviewStep {...{ flow, tell, rate, terms }} />
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
          <Button kind="primary" onPress={() => tell({ type: 'again' })}>
            {words.withdraw.otherAccount}
          </Button>
          <Button onPress={() => tell({ type: 'restart' })}>{words.withdraw.restart}</Button>
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
