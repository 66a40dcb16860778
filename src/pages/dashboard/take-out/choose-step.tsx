import { useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { isUnclear, typedTokenAmount } from '../../lib/amount-text.js'
import { Form, RadioGroup } from '../../ui/fields.js'
import { Fact } from '../../ui/kit.js'
import type { Takeable, Transfer, TransferAnswer } from '../answers.js'
import { call, codeOf } from '../api.js'
import { AmountField } from '../parts/fields.js'
import { Submit } from '../parts/forms.js'
import { useSubmit } from '../requests.js'
import { proofFaults } from '../security/owner-proof.js'
import { type ConfirmationProof, needsStepUp, StepUp } from '../security/step-up.js'
import { transfersPath } from './submission.js'
import { exactAmount, prepareFault } from './transfer.js'

interface ChooseStepProps {
  tokens: Takeable['tokens']
  wallet: string
  wanted: { readonly mint: string | null; readonly amount: string | null }
  onPrepared: (transfer: Transfer) => void
  onFailed: () => void
}

/** Token and amount, then what proves the owner. Nothing is held or moved here. */
export function ChooseStep({ tokens, wallet, wanted, onPrepared, onFailed }: ChooseStepProps) {
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
      onPrepared((await call<TransferAnswer>('POST', transfersPath, { body })).transfer)
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
        <code class="address">{wallet}</code>
      </StepUp>
    )
  return (
    <Form
      noValidate
      onSubmit={() => {
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
      <AmountField
        label={words.takeOut.amount(token.tokenSymbol)}
        fault={fault}
        value={amount}
        most={clearText(token.amount)}
        onInput={change}
      />
      <dl class="facts">
        <Fact name={words.takeOut.to}>
          <code class="address">{wallet}</code>
        </Fact>
      </dl>
      <p class="quiet">{words.takeOut.lead}</p>
      <Submit text={words.next} busy={start.busy} />
    </Form>
  )
}

/** `1.234` could mean two numbers; `1.2340` is the same and could not. */
function clearText(amount: string): string {
  return isUnclear(amount) ? `${amount}0` : amount
}
