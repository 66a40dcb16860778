import { useContext } from 'preact/hooks'
import { words } from '../../i18n/checkout.js'
import { common } from '../../i18n/common.js'
import { type Currency, isUnclear } from '../../lib/amount-text.js'
import { shortNgn, shortUsd } from '../../lib/money.js'
import { RadioGroup, TextField } from '../../ui/fields.js'
import { Notice } from '../../ui/kit.js'
import { chosenCents, limitsOf, presetsOf } from '../machine/form.js'
import type { Form, State } from '../machine/state.js'
import { Dispatching } from './kit.js'

export function useEdit(): (form: Partial<Form>) => void {
  const dispatch = useContext(Dispatching)
  return (form) => dispatch({ type: 'edited', form })
}

function amountText(amount: number, currency: Currency): string {
  return currency === 'USD' ? shortUsd(amount / 100) : shortNgn(amount / 100)
}

type SayRange = (least: string, most: string) => string

/** The limits of the form's currency; of a naira payment in dollars also those in naira. Undefined until they are known. */
export function rangeText(state: State): string | undefined {
  const range = limitsText(state, state.form.currency, words.amountRange)
  const inNaira = nairaRangeText(state)
  return range === undefined || inNaira === undefined ? range : `${range}. ${inNaira}`
}

/** The limits of a naira payment in naira, when its amount is in dollars. */
function nairaRangeText(state: State): string | undefined {
  const { method, currency } = state.form
  if (method === 'naira' && currency === 'USD') return limitsText(state, 'NGN', words.amountRangeNaira)
  return undefined
}

function limitsText(state: State, currency: Currency, say: SayRange): string | undefined {
  const limits = limitsOf({ ...state, form: { ...state.form, currency } })
  return limits && say(amountText(limits.least, currency), amountText(limits.most, currency))
}

function faultText(state: State): string {
  const { other, currency } = state.form
  if (isUnclear(other, currency)) return common.unclearNumber
  return [limitsText(state, currency, words.amountFault), nairaRangeText(state) ?? ''].join(' ').trim()
}

export function Amounts({ state }: { readonly state: State }) {
  const edit = useEdit()
  const { form, session } = state
  const { currency } = form
  const rateMissing = currency === 'NGN' && state.rate === undefined
  const presets = presetsOf(state)
  const texts = Object.fromEntries(presets.map((preset) => [preset, amountText(preset, currency)]))
  return (
    <div class="stack">
      {session?.fiat.enabled && (
        <RadioGroup<Currency>
          legend={words.currencyLegend}
          name="currency"
          chosen={currency}
          choices={['USD', 'NGN']}
          texts={words.currencies}
          onChoose={(chosen) => edit({ currency: chosen })}
        />
      )}
      <RadioGroup<Form['preset']>
        legend={words.amountLegend[currency]}
        named
        name="amount"
        chosen={form.preset}
        choices={[...presets, 'other']}
        texts={{ ...texts, other: words.otherAmount }}
        onChoose={(preset) => edit({ preset })}
      />
      {form.preset === 'other' && <OtherAmount state={state} />}
      {rateMissing && form.method === 'crypto' && state.naira === 'unavailable' && (
        <Notice tone="warn" urgent text={words.noRate} />
      )}
    </div>
  )
}

function OtherAmount({ state }: { readonly state: State }) {
  const edit = useEdit()
  const { form } = state
  const range = rangeText(state)
  const wrong = form.showFaults && range !== undefined && chosenCents(state) === undefined
  return (
    <div id="other-amount">
      <TextField
        label={words.amountLegend[form.currency]}
        hint={range ?? words.readingRate}
        fault={wrong ? faultText(state) : undefined}
        class="number"
        inputMode="decimal"
        placeholder={form.currency === 'USD' ? '5.00' : '5,000'}
        value={form.other}
        onInput={(other) => edit({ other })}
        onBlur={() => form.other !== '' && edit({ showFaults: true })}
      />
    </div>
  )
}
