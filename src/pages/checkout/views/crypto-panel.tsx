import type { JSX } from 'preact'
import { words } from '../../i18n/checkout.js'
import { usd } from '../../lib/money.js'
import { Button } from '../../ui/controls/button.js'
import { Chip } from '../../ui/controls/chip.js'
import { chosenCents, chosenToken } from '../machine/form.js'
import type { Form, State } from '../machine/state.js'

/** The crypto tab: the token and the submit button. */
export function CryptoPanel({
  state,
  edit,
}: {
  readonly state: State
  readonly edit: (change: Partial<Form>) => void
}): JSX.Element {
  const { session } = state
  const token = chosenToken(state)
  const cents = chosenCents(state)
  const amount = cents === undefined ? '' : usd(cents / 100)
  return (
    <>
      <fieldset class="chips">
        <legend class="field__label">{words.payWith}</legend>
        <div class="chips__row">
          {session?.tokens.map(({ mint, symbol }) => (
            <Chip key={mint} name="token" checked={token?.mint === mint} onChoose={() => edit({ mint })}>
              {symbol}
            </Chip>
          ))}
        </div>
      </fieldset>
      <Button kind="primary" type="submit">
        {words.tipWith(amount, token?.symbol ?? '').replace('  ', ' ')}
      </Button>
      <p class="quiet small">
        {words.feeLine(session?.creator.name ?? '')} {words.publicAddress}
      </p>
    </>
  )
}
