import type { JSX } from 'preact'
import { words } from '../../i18n/checkout.js'
import { common } from '../../i18n/common.js'
import { type Currency, isUnclear } from '../../lib/amount-text.js'
import { shortNgn, shortUsd } from '../../lib/money.js'
import { Chip } from '../../ui/controls/chip.js'
import { Field } from '../../ui/controls/field.js'
import { Notice } from '../../ui/messages/notice.js'
import { chosenCents, limitsOf, presetsOf } from '../machine/form.js'
import type { Form, State } from '../machine/state.js'

interface Props {
  readonly state: State
  readonly edit: (change: Partial<Form>) => void
}

const currencies: readonly Currency[] = ['USD', 'NGN']

/** Cents or kobo for display. */
function amountText(amount: number, currency: Currency): string {
  return currency === 'USD' ? shortUsd(amount / 100) : shortNgn(amount / 100)
}

/** The limits of the form's currency; of a naira payment in dollars also those in naira. Undefined until they are known. */
export function rangeText(state: State): string | undefined {
  const { form } = state
  const limits = limitsOf(state)
  if (limits === undefined) return undefined
  const range = words.amountRange(
    amountText(limits.least, form.currency),
    amountText(limits.most, form.currency),
  )
  const inNaira = nairaRangeText(state)
  return inNaira === undefined ? range : `${range}. ${inNaira}`
}

/** The limits of a naira payment in naira, when its amount is in dollars. */
function nairaRangeText(state: State): string | undefined {
  const { form } = state
  if (form.method === 'crypto' || form.currency === 'NGN') return undefined
  const limits = limitsOf({ ...state, form: { ...form, currency: 'NGN' } })
  return limits && words.amountRangeNaira(amountText(limits.least, 'NGN'), amountText(limits.most, 'NGN'))
}

function faultText(state: State): string {
  const { form } = state
  if (isUnclear(form.other, form.currency)) return common.unclearNumber
  const limits = limitsOf(state) ?? { least: 0, most: 0 }
  const fault = words.amountFault(
    amountText(limits.least, form.currency),
    amountText(limits.most, form.currency),
  )
  return [fault, nairaRangeText(state) ?? ''].join(' ').trim()
}

/** The currency, the presets and the typed amount. */
export function Amounts({ state, edit }: Props): JSX.Element {
  const { form, session } = state
  const { currency } = form
  const rateMissing = currency === 'NGN' && state.rate === undefined
  return (
    <div class="amounts">
      {session?.fiat.enabled && (
        <fieldset class="chips amounts__currency">
          <legend class="visually-hidden">{words.currencyLegend}</legend>
          <div class="chips__row">
            {currencies.map((each) => (
              <Chip
                key={each}
                name="currency"
                checked={currency === each}
                onChoose={() => edit({ currency: each })}
              >
                {words.currencies[each]}
              </Chip>
            ))}
          </div>
        </fieldset>
      )}
      <fieldset class="chips">
        <legend class="field__label">{words.amountLegend[currency]}</legend>
        <div class="chips__row">
          {presetsOf(state).map((preset) => (
            <Chip
              key={preset}
              name="amount"
              checked={form.preset === preset}
              onChoose={() => edit({ preset })}
            >
              {amountText(preset, currency)}
            </Chip>
          ))}
          <Chip name="amount" checked={form.preset === 'other'} onChoose={() => edit({ preset: 'other' })}>
            {words.otherAmount}
          </Chip>
        </div>
      </fieldset>
      {form.preset === 'other' && <OtherAmount state={state} edit={edit} />}
      {rateMissing && form.method === 'crypto' && state.naira === 'unavailable' && (
        <Notice tone="warn" icon="warn" urgent>
          {words.noRate}
        </Notice>
      )}
    </div>
  )
}

function OtherAmount({ state, edit }: Props): JSX.Element {
  const { form } = state
  const range = rangeText(state)
  const wrong = form.showFaults && range !== undefined && chosenCents(state) === undefined
  return (
    <div id="other-amount">
      <Field
        label={words.amountLegend[form.currency]}
        hint={range ?? words.readingRate}
        fault={wrong ? faultText(state) : undefined}
      >
        <input
          class="input number"
          inputMode="decimal"
          autoComplete="off"
          placeholder={form.currency === 'USD' ? '5.00' : '5,000'}
          value={form.other}
          onInput={({ currentTarget }) => edit({ other: currentTarget.value })}
          onBlur={() => form.other !== '' && edit({ showFaults: true })}
        />
      </Field>
    </div>
  )
}
