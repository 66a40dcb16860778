import { useContext } from 'preact/hooks'
import { words } from '../../i18n/checkout.js'
import { ngn, usd } from '../../lib/money.js'
import { Field, Form, RadioGroup } from '../../ui/fields.js'
import { Button, Icon, Notice, Tabs } from '../../ui/kit.js'
import { chosenCents, chosenToken, isUsableEmail } from '../machine/form.js'
import type { State } from '../machine/state.js'
import { Amounts, useEdit } from './amounts.js'
import { Dispatching, press, type ViewOf } from './kit.js'
import { NairaPanel } from './naira-panel.js'

const maxMessage = 500

export function Choose({ state }: Pick<ViewOf<'choose'>, 'state'>) {
  const dispatch = useContext(Dispatching)
  const edit = useEdit()
  const { form, session } = state
  if (session === undefined) return null
  return (
    <Form
      noValidate
      onSubmit={() => {
        dispatch({ type: 'submitted-form' })
        focusFault(state)
      }}
    >
      {state.left !== undefined && <Left tip={state.left} />}
      <Amounts state={state} />
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
        class="stack"
        {...(session.fiat.enabled && {
          role: 'tabpanel',
          id: `panel-${form.method}`,
          'aria-labelledby': `tab-${form.method}`,
        })}
      >
        {form.method === 'crypto' ? <CryptoPanel state={state} /> : <NairaPanel state={state} />}
      </div>
    </Form>
  )
}

function focusFault(state: State): void {
  if (chosenCents(state) === undefined) document.querySelector<HTMLElement>('#other-amount input')?.focus()
  else if (state.form.method === 'naira' && !isUsableEmail(state.form.email))
    document.querySelector<HTMLElement>('input[type=email]')?.focus()
}

const tabLabel = (icon: 'wallet' | 'bank', text: string) => (
  <>
    <Icon name={icon} size={18} />
    {text}
  </>
)
const cryptoTab = { key: 'crypto', label: tabLabel('wallet', words.crypto) } as const
const nairaTab = { key: 'naira', label: tabLabel('bank', words.naira) } as const

/** A naira payment that was left and may still be paid. */
function Left({ tip }: { readonly tip: NonNullable<State['left']> }) {
  return (
    <Notice tone="warn" icon="wait">
      <div class="stack">
        <p>
          <strong>{words.leftOpen(ngn(tip.amountNgn))}</strong> {words.leftOpenMore}
        </p>
        {press(words.returnToLeft, { type: 'return-to-left' })}
      </div>
    </Notice>
  )
}

function CryptoPanel({ state }: { readonly state: State }) {
  const edit = useEdit()
  const { session } = state
  const token = chosenToken(state)
  const cents = chosenCents(state)
  const amount = cents === undefined ? '' : usd(cents / 100)
  const tokens = session?.tokens ?? []
  return (
    <>
      <RadioGroup
        legend={words.payWith}
        named
        name="token"
        chosen={token?.mint}
        choices={tokens.map(({ mint }) => mint)}
        texts={Object.fromEntries(tokens.map(({ mint, symbol }) => [mint, symbol]))}
        onChoose={(mint) => edit({ mint })}
      />
      <Button
        kind="primary"
        type="submit"
        text={words.tipWith(amount, token?.symbol ?? '').replace('  ', ' ')}
      />
      <p class="quiet small">
        {words.feeLine(session?.creator.name ?? '')} {words.publicAddress}
      </p>
    </>
  )
}
