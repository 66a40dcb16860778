import type { JSX } from 'preact'
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { Button } from '../../ui/controls/button.js'
import { Announcer } from '../../ui/messages/announcer.js'
import { Notice } from '../../ui/messages/notice.js'
import type { Balance, PayoutWallet, Rate } from '../answers.js'
import { useRate } from '../parts/use-rate.js'
import { StraightToWallet } from '../parts/wallets/straight-to-wallet.js'
import { go, useRoute } from '../route.js'
import { useLoad } from '../use-load.js'
import { AmountStep } from './amount-step.js'
import type { Terms } from './amounts.js'
import { BankStep } from './bank-step.js'
import { type Flow, isUnresolved } from './flow.js'
import { History } from './history.js'
import { Payees } from './payees.js'
import { Progress } from './progress/progress.js'
import { ReviewStep } from './review-step.js'
import { StepMarks } from './step-marks.js'
import { useWithdrawal } from './use-withdrawal.js'

/** A withdrawal to a Nigerian bank account in four steps, with the history below. */
export function Withdraw(): JSX.Element {
  const { query } = useRoute()
  const { flow, dispatch } = useWithdrawal()
  const balance = useLoad<{ balance: Balance }>('/creators/balance')
  const wallet = useLoad<{ payoutWallet: PayoutWallet | null }>('/creators/payout-wallet')
  const rate = useRate()
  const [historyVersion, setHistoryVersion] = useState(0)
  const reloadHistory = useCallback(() => setHistoryVersion((before) => before + 1), [])
  const [terms] = useState(termsOfPage)
  const reference = query.get('reference') ?? undefined
  const reloadBalance = balance.reload
  useEffect(() => {
    if (flow.step !== 'accepted') return
    go('withdraw', new URLSearchParams({ reference: flow.answer.reference }))
    dispatch({ type: 'restart' })
    reloadBalance()
    reloadHistory()
  }, [flow, dispatch, reloadBalance, reloadHistory])
  const shown = isUnresolved(flow) ? undefined : reference
  return (
    <div class="withdraw">
      <section class="card">
        {shown === undefined ? (
          <Step
            flow={flow}
            dispatch={dispatch}
            available={balance.data?.balance.availableUSDC}
            rate={rate}
            terms={terms}
          />
        ) : (
          <Progress
            key={shown}
            reference={shown}
            terms={terms}
            onStatusChange={reloadHistory}
            onRestart={() => {
              reloadBalance()
              go('withdraw')
            }}
          />
        )}
        {shown === undefined && wallet.data?.payoutWallet?.takesTips === true && <StraightToWallet />}
      </section>
      <div class="withdraw__lists">
        <History version={historyVersion} />
        <Payees version={historyVersion} />
      </div>
    </div>
  )
}

interface StepProps {
  readonly flow: Flow
  readonly dispatch: ReturnType<typeof useWithdrawal>['dispatch']
  readonly available: number | undefined
  readonly rate: Rate | undefined
  readonly terms: Terms
}

function Step(props: StepProps): JSX.Element {
  const { flow } = props
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
      <StepBody {...props} />
    </>
  )
}

function StepBody({ flow, dispatch, available, rate, terms }: StepProps): JSX.Element {
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

/** Reads the terms from the attributes that the service wrote into the page's HTML. */
function termsOfPage(): Terms {
  const { dataset } = document.documentElement
  return {
    leastFeeNgn: Number(dataset['withdrawLeastFeeNgn']),
    feeBps: Number(dataset['withdrawFeeBps']),
    minNgn: Number(dataset['withdrawMinNgn']),
    identitySingleNgn: Number(dataset['identitySingleNgn']),
    identityDailyNgn: Number(dataset['identityDailyNgn']),
  }
}
