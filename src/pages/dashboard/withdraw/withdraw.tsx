import { useCallback, useEffect, useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { Announcer, Button, Notice } from '../../ui/kit.js'
import type { Balance, PayoutWallet } from '../answers.js'
import { useFocus } from '../parts/focus.js'
import { StraightToWallet } from '../parts/notices.js'
import { useRate } from '../parts/rate.js'
import { useLoad } from '../requests.js'
import { go, useRoute } from '../route.js'
import { AmountStep, ReviewStep, type StepProps } from './amount-steps.js'
import { BankStep } from './bank-step.js'
import { type Flow, isUnresolved } from './flow.js'
import { History, Payees } from './lists.js'
import { Progress, StepMarks } from './progress.js'
import type { Terms } from './rules.js'
import { useWithdrawal } from './use-withdrawal.js'

const text = words.withdraw

/** A withdrawal to a Nigerian bank account in four steps, with the history below. */
export function Withdraw() {
  const { query } = useRoute()
  const { flow, dispatch } = useWithdrawal()
  const balance = useLoad<Balance>('/creators/balance')
  const wallet = useLoad<PayoutWallet>('/creators/payout-wallet')
  const { rate } = useRate()
  const [historyVersion, setHistoryVersion] = useState(0)
  const reloadHistory = useCallback(() => setHistoryVersion((before) => before + 1), [])
  const [terms] = useState(termsOfPage)
  const reloadBalance = balance.reload
  useEffect(() => {
    if (flow.step !== 'accepted') return
    go('withdraw', new URLSearchParams({ reference: flow.answer.reference }))
    dispatch({ type: 'restart' })
    reloadBalance()
    reloadHistory()
  }, [flow, dispatch, reloadBalance, reloadHistory])
  const shown = isUnresolved(flow) ? null : query.get('reference')
  return (
    <div class="columns">
      <section class="card">
        {shown === null ? (
          <>
            <Step
              flow={flow}
              dispatch={dispatch}
              available={balance.data?.balance.availableUSDC}
              rate={rate}
              terms={terms}
            />
            {wallet.data?.payoutWallet?.takesTips === true && <StraightToWallet />}
          </>
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
      </section>
      <div class="stack">
        <History version={historyVersion} />
        <Payees version={historyVersion} />
      </div>
    </div>
  )
}

function Step({ flow, ...props }: Omit<StepProps, 'flow'> & { readonly flow: Flow }) {
  const heading = useFocus(flow.step)
  const title = text.titles[flow.step]
  return (
    <>
      <StepMarks step={flow.step} />
      <Announcer text={title} />
      <h2 ref={heading} tabIndex={-1}>
        {title}
      </h2>
      {flow.step === 'amount' || flow.step === 'bank' || flow.step === 'review' ? (
        <FormStep flow={flow} {...props} />
      ) : flow.step === 'refused' ? (
        <>
          <Notice tone="bad" icon="cross" urgent title={text.refused}>
            <blockquote class="quote">
              <bdi>{flow.reason}</bdi>
            </blockquote>
            <p>{text.unchanged}</p>
          </Notice>
          <Button
            kind="primary"
            text={text.otherAccount}
            onPress={() => props.dispatch({ type: 'change-account' })}
          />
          <Button text={text.restart} onPress={() => props.dispatch({ type: 'restart' })} />
        </>
      ) : (
        <Sent unanswered={flow.step === 'checking'} />
      )}
    </>
  )
}

function FormStep(props: StepProps) {
  if (props.flow.step === 'amount') return <AmountStep {...props} />
  return props.flow.step === 'bank' ? <BankStep {...props} /> : <ReviewStep {...props} />
}

function Sent({ unanswered }: { readonly unanswered: boolean }) {
  return (
    <Notice
      tone={unanswered ? 'warn' : 'plain'}
      icon="wait"
      urgent={unanswered}
      title={unanswered ? text.checking : text.sending}
      text={unanswered ? text.checkingMore : text.sendingMore}
    />
  )
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
