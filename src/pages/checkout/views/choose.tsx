import { useContext } from 'preact/hooks'
import { words } from '../../i18n/checkout.js'
import { ngn, usd } from '../../lib/money.js'
import { Checkbox, Field, Form, RadioGroup, TextField } from '../../ui/fields.js'
import { Button, Icon, Notice, Tabs } from '../../ui/kit.js'
import { chosenCents, chosenToken, isUsableEmail, nairaQuote } from '../machine/form.js'
import type { Form as FormValues, State } from '../machine/state.js'
import { Amounts, useEdit } from './amounts.js'
import { Dispatching, press, type ViewOf } from './kit.js'

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
          tabs={state.nairaFirst ? [nairaTab(), cryptoTab()] : [cryptoTab(), nairaTab()]}
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
      <div class="paybar">
        {form.method === 'crypto' ? <CryptoPay state={state} /> : <NairaPay state={state} />}
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
const cryptoTab = () => ({ key: 'crypto', label: tabLabel('wallet', words.crypto) }) as const
const nairaTab = () => ({ key: 'naira', label: tabLabel('bank', words.naira) }) as const

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
  const { session, form } = state
  const name = session?.creator.name ?? ''
  const tokens = session?.tokens ?? []
  return (
    <>
      <RadioGroup
        legend={words.payWith}
        named
        name="token"
        chosen={chosenToken(state)?.mint}
        choices={tokens.map(({ mint }) => mint)}
        texts={Object.fromEntries(tokens.map(({ mint, symbol }) => [mint, symbol]))}
        onChoose={(mint) => edit({ mint })}
      />
      <TextField
        label={words.cryptoNameField(name)}
        autocomplete="name"
        maxLength={100}
        value={form.name}
        onInput={(text) => edit({ name: text, anonymous: false })}
      />
      <p class="quiet small">
        {words.feeLine(name)} {words.publicAddress}
      </p>
    </>
  )
}

function CryptoPay({ state }: Props) {
  const cents = chosenCents(state)
  const amount = cents === undefined ? '' : usd(cents / 100)
  const text = words.tipWith(amount, chosenToken(state)?.symbol ?? '').replace('  ', ' ')
  return <Button kind="primary" type="submit" text={text} />
}

interface Props {
  readonly state: State
}

function NairaPanel({ state }: Props) {
  if (state.naira === 'unavailable')
    // The page already says that it is offline.
    return state.offline ? null : (
      <Notice tone="warn" urgent>
        <strong>{words.nairaUnavailable}</strong> {words.nairaUnavailableMore}
      </Notice>
    )
  return (
    <>
      <Way state={state} />
      <Payer state={state} />
    </>
  )
}

/** How the naira are paid. Where the creator takes both, the supporter chooses. */
function Way({ state: { form, session } }: Props) {
  const edit = useEdit()
  const both = session?.fiat.collection === 'checkout'
  const transfer = !both || form.way === 'bank_transfer'
  return (
    <>
      {both && (
        <RadioGroup<FormValues['way']>
          legend={words.wayLegend}
          name="way"
          chosen={form.way}
          choices={['bank_transfer', 'checkout']}
          texts={{ bank_transfer: words.wayTransfer, checkout: words.wayCheckout }}
          onChoose={(way) => edit({ way })}
        />
      )}
      <div class="way">
        <Icon name="bank" />
        <div>
          {!both && <strong>{words.wayTransfer}</strong>}
          <p class="quiet">{transfer ? words.wayTransferMore : words.wayCheckoutMore}</p>
        </div>
      </div>
    </>
  )
}

function Payer({ state: { form, session } }: Props) {
  const edit = useEdit()
  const name = session?.creator.name ?? ''
  return (
    <>
      <TextField
        label={words.nameField(name)}
        autocomplete="name"
        maxLength={100}
        value={form.name}
        disabled={form.anonymous}
        onInput={(text) => edit({ name: text })}
      />
      <TextField
        label={words.emailField}
        fault={form.showFaults && !isUsableEmail(form.email) ? words.emailFault : undefined}
        type="email"
        inputMode="email"
        autocomplete="email"
        maxLength={254}
        value={form.email}
        disabled={form.anonymous}
        onInput={(email) => edit({ email })}
        onBlur={() => form.email !== '' && edit({ showFaults: true })}
      />
      <Checkbox
        label={
          <>
            {words.anonymous}
            {form.anonymous && <span class="quiet"> {words.anonymousMore(name)}</span>}
          </>
        }
        value={form.anonymous}
        onChange={(anonymous) => edit({ anonymous })}
      />
    </>
  )
}

/** The amount in naira and the submit button, which is busy until the amount is known. */
function NairaPay({ state }: Props) {
  if (state.naira === 'unavailable') return press(words.tryAgain, { type: 'start-over' }, 'primary')
  const name = state.session?.creator.name ?? ''
  const cents = chosenCents(state)
  const quote = nairaQuote(state)
  return (
    <>
      <p class="quiet number">
        {quote
          ? words.nairaSum(ngn(quote.amountNgn), name, usd(quote.receivedUsd))
          : cents !== undefined && words.nairaPricing}
      </p>
      <Button
        kind="primary"
        type="submit"
        busy={cents !== undefined && quote === undefined}
        text={quote ? words.payNaira(ngn(quote.amountNgn)) : words.payNairaPlain}
      />
    </>
  )
}
