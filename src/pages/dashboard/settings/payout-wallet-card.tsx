import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { Button } from '../../ui/controls/button.js'
import { Field } from '../../ui/controls/field.js'
import type { PayoutWallet, Profile } from '../answers.js'
import { call, codeOf } from '../api.js'
import { FaultNotice } from '../parts/fault-notice.js'
import { CodeField } from '../parts/fields/code-field.js'
import { RadioGroup } from '../parts/fields/radio-group.js'
import { SignatureField } from '../parts/fields/signature-field.js'
import { useLoad } from '../use-load.js'
import { useSubmit } from '../use-submit.js'

const path = '/creators/payout-wallet'
const destinations = ['custody', 'payout_wallet'] as const
type Destination = (typeof destinations)[number]
type WithCode = (code: { readonly code?: string }) => Promise<void>

/** A wallet of the creator's own: its proof by a signature, and whether new tips go to it. Each change takes a mailed code. */
export function PayoutWalletCard({
  onSaved,
}: {
  readonly onSaved: (profile: Profile) => void
}): JSX.Element | null {
  const { data, fault, reload } = useLoad<{ payoutWallet: PayoutWallet | null }>(path)
  /** What the mailed code confirms. */
  const [asked, setAsked] = useState<WithCode>()
  const [code, setCode] = useState('')
  const change = useSubmit(async (work: WithCode, digits?: string) => {
    try {
      await work(digits === undefined ? {} : { code: digits })
    } catch (error) {
      if (codeOf(error) !== 'step_up_required') throw error
      setCode('')
      // A function as state: the outer one returns it.
      setAsked(() => work)
      return
    }
    setAsked(undefined)
    reload()
  })
  if (data === undefined) return fault === undefined ? null : <FaultNotice fault={fault} onRetry={reload} />
  const { payoutWallet } = data
  const chooseDestination = (tipsTo: Destination): void =>
    change.run(async (given) => {
      const body = { settings: { tipsTo }, ...given }
      onSaved((await call<{ creator: Profile }>('PATCH', '/creators/me', { body })).creator)
    })
  return (
    <section class="card stack" aria-labelledby="payout-title">
      <h2 id="payout-title">{words.payoutWallet.title}</h2>
      {asked !== undefined ? (
        <form
          class="stack"
          onSubmit={(event) => {
            event.preventDefault()
            change.run(asked, code)
          }}
        >
          <p>{words.payoutWallet.mailed}</p>
          <CodeField label={words.payoutWallet.code} value={code} onInput={setCode} />
          <Button kind="primary" type="submit" busy={change.busy}>
            {words.payoutWallet.confirm}
          </Button>
          <Button onPress={() => setAsked(undefined)}>{words.cancel}</Button>
        </form>
      ) : payoutWallet === null ? (
        <ProofForm busy={change.busy} onProof={(proof) => change.run((given) => prove(proof, given))} />
      ) : (
        <>
          <code class="secret">{payoutWallet.wallet}</code>
          <RadioGroup
            name="tips-to"
            legend={words.payoutWallet.tipsTo}
            choices={destinations}
            texts={words.payoutWallet.destinations}
            chosen={payoutWallet.takesTips ? 'payout_wallet' : 'custody'}
            stacked
            onChoose={chooseDestination}
          />
          <p class="quiet">{words.payoutWallet.effect}</p>
          <Button
            busy={change.busy}
            onPress={() =>
              change.run(async () => {
                await call('DELETE', path)
              })
            }
          >
            {words.payoutWallet.remove}
          </Button>
        </>
      )}
      <FaultNotice fault={change.fault} />
    </section>
  )
}

interface Proof {
  readonly wallet: string
  readonly signature: string
}

async function prove(proof: Proof, given: { readonly code?: string }): Promise<void> {
  await call('PUT', path, { body: { ...proof, ...given } })
}

/** The address, the message that its wallet signs, and the signature. */
function ProofForm({
  busy,
  onProof,
}: {
  readonly busy: boolean
  readonly onProof: (proof: Proof) => void
}): JSX.Element {
  const [wallet, setWallet] = useState('')
  const [signature, setSignature] = useState('')
  const [message, setMessage] = useState<string>()
  const ask = useSubmit(async () => {
    const body = { wallet: wallet.trim() }
    setMessage((await call<{ message: string }>('POST', `${path}/challenge`, { body })).message)
  })
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault()
        if (message === undefined) ask.run()
        else onProof({ wallet: wallet.trim(), signature: signature.trim() })
      }}
    >
      <Field
        label={words.payoutWallet.wallet}
        hint={words.payoutWallet.hint}
        fault={ask.fault && words.fault(ask.fault)}
      >
        <input
          class="input"
          required
          autocomplete="off"
          spellcheck={false}
          value={wallet}
          onInput={({ currentTarget }) => {
            setWallet(currentTarget.value)
            setMessage(undefined)
          }}
        />
      </Field>
      {message !== undefined && (
        <SignatureField
          advice={words.payoutWallet.sign}
          message={message}
          signature={signature}
          onSignature={setSignature}
        />
      )}
      <Button type="submit" busy={busy || ask.busy}>
        {message === undefined ? words.next : words.payoutWallet.set}
      </Button>
    </form>
  )
}
