import { useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { numberText } from '../../lib/amount-text.js'
import { ngn, usdBelow } from '../../lib/money.js'
import { Form, RadioGroup } from '../../ui/fields.js'
import { Button, Fact, Notice } from '../../ui/kit.js'
import type { Rate } from '../answers.js'
import { AmountField } from '../parts/fields.js'
import { Submit } from '../parts/forms.js'
import { nairaText } from '../parts/rate.js'
import type { Draft, Flow, FlowEvent, FormStep } from './flow.js'
import { bodyOf, estimate, faultOf, type Terms, withdrawnTexts } from './rules.js'

export interface StepProps {
  readonly flow: Extract<Flow, { step: FormStep }>
  readonly dispatch: (event: FlowEvent) => void
  readonly available: number | undefined
  readonly rate: Rate | undefined
  readonly terms: Terms
}

/** Step 1: the amount, in USDC or in naira. */
export function AmountStep({ flow, dispatch, available, rate, terms }: StepProps) {
  const { draft } = flow
  const [wrong, setWrong] = useState<string>()
  const fault = wrong ?? flow.fault
  const set = (change: Partial<Draft>): void => {
    dispatch({ type: 'edited', draft: { ...draft, ...change } })
    setWrong(undefined)
  }
  const naira = nairaText(available, rate)
  const expected = rate && estimate(draft, rate.rate, terms)
  const mostNgn = available && rate && Math.floor(available * rate.rate * 100) / 100
  const most = draft.currency === 'USDC' ? available : mostNgn
  return (
    <Form
      noValidate
      onSubmit={() => {
        const found = available === undefined ? 'unknown' : faultOf(draft, rate?.rate, available, terms)
        if (found === undefined) dispatch({ type: 'completed-step', step: 'amount', draft })
        else setWrong(found)
      }}
    >
      {fault === 'withdrawal_unknown' && <Notice tone="warn" urgent text={words.withdraw.unknown} />}
      <p class="quiet number">
        {available === undefined ? words.loading : words.withdraw.available(usdBelow(available))}
      </p>
      {naira !== undefined && <p class="quiet number">{naira}</p>}
      <RadioGroup
        name="currency"
        legend={words.withdraw.currency}
        choices={['USDC', 'NGN']}
        texts={words.withdraw.currencies}
        chosen={draft.currency}
        onChoose={(currency) => set({ currency, amount: '' })}
      />
      <AmountField
        label={words.withdraw.amount(draft.currency)}
        fault={fault !== undefined && fault !== 'withdrawal_unknown' ? words.fault(fault) : undefined}
        value={draft.amount}
        most={most ? numberText(most) : undefined}
        onInput={(amount) => set({ amount })}
      />
      <p class="quiet number">
        {expected && expected.netNgn > 0
          ? words.withdraw.about(ngn(expected.netNgn))
          : words.withdraw.feeHint(terms)}
      </p>
      <Submit text={words.next} />
    </Form>
  )
}

/** Step 3: review and confirm. Only this step sends the withdrawal. */
export function ReviewStep({ flow, dispatch, rate, terms }: StepProps) {
  const { draft, fault } = flow
  const expected = rate && estimate(draft, rate.rate, terms)
  const [asked, other] = expected ? withdrawnTexts(draft, expected) : []
  const held = expected !== undefined && expected.grossNgn > terms.identitySingleNgn
  const limits = words.review.held(ngn(terms.identitySingleNgn), ngn(terms.identityDailyNgn))
  return (
    <Form
      onSubmit={() => {
        if (expected === undefined) return
        const sent = { key: crypto.randomUUID(), body: bodyOf(draft), draft, at: Date.now() }
        dispatch({ type: 'confirmed', sent })
      }}
    >
      {fault !== undefined && (
        <Notice tone="bad" urgent>
          {words.fault(fault)} {words.withdraw.nothingWithdrawn}
        </Notice>
      )}
      <dl class="facts facts--money">
        <Fact name={words.review.withdraw}>{expected === undefined ? '–' : `${asked} (${other})`}</Fact>
        <Fact name={words.review.rate}>
          {rate === undefined ? words.review.noRate : words.review.perDollar(ngn(rate.rate))}
        </Fact>
        <Fact name={words.review.fee}>{expected === undefined ? '–' : ngn(expected.feeNgn)}</Fact>
        <Fact name={words.review.receive} strong>
          {expected === undefined ? '–' : ngn(expected.netNgn)}
        </Fact>
        <Fact name={words.review.to}>
          <bdi>{draft.accountName}</bdi>
          <br />
          {draft.bankName} · {draft.accountNumber}
        </Fact>
      </dl>
      <p class="quiet">{words.review.rateHint}</p>
      {held ? <Notice tone="warn" icon="wait" text={limits} /> : <p class="quiet">{limits}</p>}
      <Submit
        text={asked === undefined ? words.review.noRate : words.review.confirm(asked)}
        busy={expected === undefined}
      />
      <Button kind="quiet" text={words.back} onPress={() => dispatch({ type: 'back' })} />
    </Form>
  )
}
