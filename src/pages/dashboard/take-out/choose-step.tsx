import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { isUnclear, typedTokenAmount } from '../../lib/amount-text.js'
import { Button } from '../../ui/controls/button.js'
import { Field } from '../../ui/controls/field.js'
import type { PayoutWallet } from '../answers.js'
import { call, codeOf } from '../api.js'
import { Fact } from '../parts/fact.js'
import { RadioGroup } from '../parts/fields/radio-group.js'
import type { ConfirmationProof } from '../security/confirmation-form.js'
import { proofFaults } from '../security/owner-proof.js'
import { needsStepUp, StepUp } from '../security/step-up.js'
import { useSubmit } from '../use-submit.js'
import { transfersPath } from './sign-transfer.js'
import { exactAmount, prepareFault, type TakeableToken, type Transfer } from './transfer.js'

/** Token and amount, then what proves the owner. Nothing is held or moved here. */
export function ChooseStep({
  tokens,
  wallet,
  wanted,
  onPrepared,
  onFailed,
}: {
  readonly tokens: readonly TakeableToken[]
  readonly wallet: PayoutWallet
  /** What is filled in first. */
  readonly wanted: { readonly mint: string | null; readonly amount: string | null }
  readonly onPrepared: (transfer: Transfer) => void
  /** What is there may have changed. */
  readonly onFailed: () => void
}): JSX.Element {
  const [mint, setMint] = useState(wanted.mint)
  const [amount, setAmount] = useState(wanted.amount ?? '')
  const [fault, setFault] = useState<string>()
  const [confirming, setConfirming] = useState(false)
  const token = tokens.find((one) => one.mint === mint) ?? tokens[0]
  const typed = typedTokenAmount(amount)
  const prepare = async (proof: ConfirmationProof): Promise<void> => {
    setFault(undefined)
    try {
      const body = { mint: token?.mint, amount: typed, ...proof }
      onPrepared((await call<{ transfer: Transfer }>('POST', transfersPath, { body })).transfer)
    } catch (error) {
      const code = codeOf(error)
      if (code !== 'step_up_required' && !proofFaults.includes(code)) {
        setFault(code === 'network' && 'code' in proof ? words.takeOut.lost : prepareFault(error))
        onFailed()
      }
      throw error
    }
  }
  const start = useSubmit(async () => setConfirming(await needsStepUp(prepare)))
  if (token === undefined)
    return (
      <div class="empty">
        <p>{words.takeOut.nothing}</p>
      </div>
    )
  const change = (text: string): void => {
    setAmount(text)
    setFault(undefined)
  }
  if (confirming)
    return (
      <StepUp request={prepare} faultText={fault} onCancel={() => setConfirming(false)}>
        {words.takeOut.confirm(exactAmount({ ...token, amount: typed === 'unclear' ? '0' : (typed ?? '0') }))}{' '}
        <code class="address">{wallet.wallet}</code>
      </StepUp>
    )
  return (
    <form
      class="stack"
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        if (typed === 'unclear') setFault(words.fault('unclear_number'))
        else if (typed === undefined) setFault(words.takeOut.noAmount)
        else start.run()
      }}
    >
      <RadioGroup
        name="token"
        legend={words.takeOut.token}
        choices={tokens.map((one) => one.mint)}
        texts={Object.fromEntries(tokens.map((one) => [one.mint, exactAmount(one)]))}
        chosen={token.mint}
        stacked
        onChoose={(chosen) => {
          setMint(chosen)
          change('')
        }}
      />
      <div class="amount">
        <Field label={words.takeOut.amount(token.tokenSymbol)} fault={fault}>
          <input
            class="input amount__input number"
            name="amount"
            inputMode="decimal"
            autocomplete="off"
            value={amount}
            onInput={({ currentTarget }) => change(currentTarget.value)}
          />
        </Field>
        <button type="button" class="copy amount__max" onClick={() => change(clearText(token.amount))}>
          {words.withdraw.max}
        </button>
      </div>
      <dl class="facts">
        <Fact name={words.takeOut.to}>
          <code class="address">{wallet.wallet}</code>
        </Fact>
      </dl>
      <p class="quiet">{words.takeOut.lead}</p>
      <Button kind="primary" type="submit" busy={start.busy}>
        {words.next}
      </Button>
    </form>
  )
}

/** `1.234` could mean two numbers; `1.2340` is the same and could not. */
function clearText(amount: string): string {
  return isUnclear(amount) ? `${amount}0` : amount
}
