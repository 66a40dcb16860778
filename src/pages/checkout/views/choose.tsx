import { useContext } from 'preact/hooks'
import { words } from '../../i18n/checkout.js'
import { ngn, usd } from '../../lib/money.js'
import { Checkbox, Field, Form, RadioGroup, TextField } from '../../ui/fields.js'
import { Button, Icon, Notice, Tabs } from '../../ui/kit.js'
import { chosenCents, chosenToken, isUsableEmail, nairaQuote } from '../machine/form.js'
import type { State } from '../machine/state.js'
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

interface Props {
  readonly state: State
}

function NairaPanel({ state }: Props) {
  const { session, naira } = state
  if (naira === 'unavailable')
    return (
      <div class="stack">
        {/* The page already says that it is offline. */}
        {!state.offline && (
          <Notice tone="warn" urgent>
            <strong>{words.nairaUnavailable}</strong> {words.nairaUnavailableMore}
          </Notice>
        )}
        {press(words.tryAgain, { type: 'start-over' }, 'primary')}
      </div>
    )
  const transfer = session?.fiat.collection === 'bank_transfer'
  return (
    <>
      <div class="way">
        <Icon name="bank" />
        <div>
          <strong>{transfer ? words.wayTransfer : words.wayCheckout}</strong>
          <p class="quiet">{transfer ? words.wayTransferMore : words.wayCheckoutMore}</p>
        </div>
      </div>
      <Payer state={state} />
      <Sum state={state} />
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
function Sum({ state }: Props) {
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
