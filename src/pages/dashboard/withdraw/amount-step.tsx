import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { numberText } from '../../lib/amount-text.js'
import { ngn, usdBelow } from '../../lib/money.js'
import { Button } from '../../ui/controls/button.js'
import { Field } from '../../ui/controls/field.js'
import { Notice } from '../../ui/messages/notice.js'
import type { Rate } from '../answers.js'
import { RadioGroup } from '../parts/fields/radio-group.js'
import { nairaText } from '../parts/use-rate.js'
import { estimate, faultOf, type Terms } from './amounts.js'
import type { Draft, Flow, FlowEvent, FormStep } from './flow.js'

/** Step 1: the amount, in USDC or in naira. */
export function AmountStep({
  flow,
  dispatch,
  available,
  rate,
  terms,
}: {
  readonly flow: Extract<Flow, { step: FormStep }>
  readonly dispatch: (event: FlowEvent) => void
  readonly available: number | undefined
  readonly rate: Rate | undefined
  readonly terms: Terms
}): JSX.Element {
  const { draft } = flow
  const [wrong, setWrong] = useState<string>()
  const fault = wrong ?? flow.fault
  const set = (change: Partial<Draft>): void => {
    dispatch({ type: 'edited', draft: { ...draft, ...change } })
    setWrong(undefined)
  }
  const naira = nairaText(available, rate)
  const expected = rate && estimate(draft, rate.rate, terms)
  const most = draft.currency === 'USDC' ? available : available && rate && floorKobo(available * rate.rate)
  return (
    <form
      class="stack"
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        const found = available === undefined ? 'unknown' : faultOf(draft, rate?.rate, available, terms)
        if (found === undefined) dispatch({ type: 'completed-step', step: 'amount', draft })
        else setWrong(found)
      }}
    >
      {fault === 'withdrawal_unknown' && (
        <Notice tone="warn" icon="warn" urgent>
          {words.withdraw.unknown}
        </Notice>
      )}
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
      <div class="amount">
        <Field
          label={words.withdraw.amount(draft.currency)}
          fault={fault !== undefined && fault !== 'withdrawal_unknown' ? words.fault(fault) : undefined}
        >
          <input
            class="input amount__input number"
            name="amount"
            inputMode="decimal"
            autocomplete="off"
            value={draft.amount}
            onInput={({ currentTarget }) => set({ amount: currentTarget.value })}
          />
        </Field>
        <button
          type="button"
          class="copy amount__max"
          disabled={!most}
          onClick={() => most && set({ amount: numberText(most) })}
        >
          {words.withdraw.max}
        </button>
      </div>
      <p class="quiet number">
        {expected && expected.netNgn > 0
          ? words.withdraw.about(ngn(expected.netNgn))
          : words.withdraw.feeHint(terms)}
      </p>
      <Button kind="primary" type="submit">
        {words.next}
      </Button>
    </form>
  )
}

function floorKobo(amount: number): number {
  return Math.floor(amount * 100) / 100
}
