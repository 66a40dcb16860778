import type { JSX } from 'preact'
import { words } from '../../i18n/checkout.js'
import { ngn } from '../../lib/money.js'
import { Button } from '../../ui/controls/button.js'
import { Field } from '../../ui/controls/field.js'
import { Tabs } from '../../ui/controls/tabs.js'
import { Icon } from '../../ui/icon.js'
import { Notice } from '../../ui/messages/notice.js'
import { chosenCents, isUsableEmail } from '../machine/form.js'
import type { Form, State } from '../machine/state.js'
import { Amounts } from './amounts.js'
import { CryptoPanel } from './crypto-panel.js'
import { NairaPanel } from './naira-panel.js'
import type { Dispatch, ViewOf } from './step.js'

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
        focusFault(state)
      }}
    >
      {state.left !== undefined && <Left tip={state.left} dispatch={dispatch} />}
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
          tabs={state.nairaFirst ? [nairaTab, cryptoTab] : [cryptoTab, nairaTab]}
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

/** Moves the focus to the field that has to be corrected. */
function focusFault(state: State): void {
  if (chosenCents(state) === undefined) document.querySelector<HTMLElement>('#other-amount input')?.focus()
  else if (state.form.method === 'naira' && !isUsableEmail(state.form.email))
    document.querySelector<HTMLElement>('input[type=email]')?.focus()
}

const cryptoTab = { key: 'crypto', label: <TabLabel icon="wallet" text={words.crypto} /> } as const
const nairaTab = { key: 'naira', label: <TabLabel icon="bank" text={words.naira} /> } as const

/** A naira payment that was left and may still be paid. */
function Left({
  tip,
  dispatch,
}: {
  readonly tip: NonNullable<State['left']>
  readonly dispatch: Dispatch
}): JSX.Element {
  return (
    <Notice tone="warn" icon="wait">
      <div class="actions">
        <p>
          <strong>{words.leftOpen(ngn(tip.amountNgn))}</strong> {words.leftOpenMore}
        </p>
        <Button onPress={() => dispatch({ type: 'return-to-left' })}>{words.returnToLeft}</Button>
      </div>
    </Notice>
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
