import { words } from '../../i18n/checkout.js'
import { ngn, usd } from '../../lib/money.js'
import { Checkbox, TextField } from '../../ui/fields.js'
import { Button, Icon, Notice } from '../../ui/kit.js'
import { chosenCents, isUsableEmail, nairaQuote } from '../machine/form.js'
import type { State } from '../machine/state.js'
import { useEdit } from './amounts.js'
import { press } from './kit.js'

interface Props {
  readonly state: State
}

export function NairaPanel({ state }: Props) {
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
