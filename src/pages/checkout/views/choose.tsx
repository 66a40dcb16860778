import type { JSX } from 'preact'
import { words } from '../../i18n/checkout.js'
import { common } from '../../i18n/common.js'
import { isUnclear } from '../../lib/amount-text.js'
import { shortUsd } from '../../lib/money.js'
import { Chip } from '../../ui/controls/chip.js'
import { Field } from '../../ui/controls/field.js'
import { Tabs } from '../../ui/controls/tabs.js'
import { Icon } from '../../ui/icon.js'
import { chosenCents } from '../machine/form.js'
import type { Form } from '../machine/state.js'
import { CryptoPanel } from './crypto-panel.js'
import { NairaPanel } from './naira-panel.js'
import type { ViewOf } from './step.js'

const maxMessage = 500

/** The form: amount, message and payment method. */
export function Choose({ state, dispatch }: ViewOf<'choose'>): JSX.Element | null {
  const { form, session } = state
  if (session === undefined) return null
  const edit = (change: Partial<Form>): void => dispatch({ type: 'edited', form: change })
  return (
    <form
      class="choose"
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        dispatch({ type: 'submitted-form' })
        if (chosenCents(state) === undefined)
          document.querySelector<HTMLElement>('#other-amount input')?.focus()
      }}
    >
      <Amounts state={state} edit={edit} />
      <Field
        label={words.messageField(session.creator.name)}
        {...(form.message !== '' && { hint: words.messageCount(form.message.length, maxMessage) })}
      >
        <textarea
          class="input"
          rows={2}
          maxLength={maxMessage}
          value={form.message}
          onInput={({ currentTarget }) => edit({ message: currentTarget.value })}
        />
      </Field>
      {session.fiat.enabled && (
        <Tabs
          label={words.methods}
          chosen={form.method}
          onChoose={(method) => edit({ method })}
          tabs={[
            { key: 'crypto', label: <TabLabel icon="wallet" text={words.crypto} /> },
            { key: 'naira', label: <TabLabel icon="bank" text={words.naira} /> },
          ]}
        />
      )}
      <div
        class="panel"
        {...(session.fiat.enabled && {
          role: 'tabpanel',
          id: `panel-${form.method}`,
          'aria-labelledby': `tab-${form.method}`,
        })}
      >
        {form.method === 'crypto' ? (
          <CryptoPanel state={state} edit={edit} />
        ) : (
          <NairaPanel state={state} edit={edit} dispatch={dispatch} />
        )}
      </div>
    </form>
  )
}

function TabLabel({ icon, text }: { readonly icon: 'wallet' | 'bank'; readonly text: string }): JSX.Element {
  return (
    <>
      <Icon name={icon} size={18} />
      {text}
    </>
  )
}

function Amounts({
  state,
  edit,
}: Pick<ViewOf<'choose'>, 'state'> & { readonly edit: (change: Partial<Form>) => void }): JSX.Element {
  const { form, session } = state
  const presets = session?.presetsUsd ?? []
  const limits = session?.limits ?? { minTipUsd: 0, maxTipUsd: 0 }
  const [least, most] = [shortUsd(limits.minTipUsd), shortUsd(limits.maxTipUsd)]
  const wrong = form.showFaults && chosenCents(state) === undefined
  const fault = isUnclear(form.other) ? common.unclearNumber : words.amountFault(least, most)
  return (
    <div class="amounts">
      <fieldset class="chips">
        <legend class="field__label">{words.amountLegend}</legend>
        <div class="chips__row">
          {presets.map((preset) => (
            <Chip
              key={preset}
              name="amount"
              checked={form.preset === preset * 100}
              onChoose={() => edit({ preset: preset * 100 })}
            >
              {shortUsd(preset)}
            </Chip>
          ))}
          <Chip name="amount" checked={form.preset === 'other'} onChoose={() => edit({ preset: 'other' })}>
            {words.otherAmount}
          </Chip>
        </div>
      </fieldset>
      {form.preset === 'other' && (
        <div id="other-amount">
          <Field
            label={words.amountField}
            hint={words.amountRange(least, most)}
            fault={wrong ? fault : undefined}
          >
            <input
              class="input number"
              inputMode="decimal"
              autoComplete="off"
              placeholder="5.00"
              value={form.other}
              onInput={({ currentTarget }) => edit({ other: currentTarget.value })}
              onBlur={() => form.other !== '' && edit({ showFaults: true })}
            />
          </Field>
        </div>
      )}
    </div>
  )
}
