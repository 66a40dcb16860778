import type { Wallet } from '@wallet-standard/base'
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { toBase58 } from '../../lib/solana.js'
import { connectWallet, signMessageWithWallet } from '../../lib/wallets.js'
import { Button } from '../../ui/controls/button.js'
import { Field } from '../../ui/controls/field.js'
import { call } from '../api.js'
import { FaultNotice } from '../parts/fault-notice.js'
import { SignatureField } from '../parts/fields/signature-field.js'
import { askWallet, useWallets } from '../parts/wallets/use-wallets.js'
import { WalletButton } from '../parts/wallets/wallet-button.js'
import { useSubmit } from '../use-submit.js'

interface Proof {
  readonly wallet: string
  readonly signature: string
}

/** Proves a wallet: by asking one of this browser, or by its address, a message and the signature. */
export function ProofForm({
  busy,
  onProof,
}: {
  readonly busy: boolean
  readonly onProof: (proof: Proof) => void
}): JSX.Element {
  const [wallet, setWallet] = useState('')
  const [signature, setSignature] = useState('')
  const [message, setMessage] = useState<string>()
  const { wallets } = useWallets('solana:signMessage')
  const ask = useSubmit(async () => setMessage(await challenge(wallet.trim())))
  const connect = useSubmit(async (one: Wallet) => onProof(await askWallet(() => proveBy(one))))
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault()
        if (message === undefined) ask.run()
        else onProof({ wallet: wallet.trim(), signature: signature.trim() })
      }}
    >
      {wallets.map((one) => (
        <WalletButton
          key={one.name}
          wallet={one}
          primary
          text={words.payoutWallet.use(one.name)}
          busy={busy || connect.busy}
          onPress={() => connect.run(one)}
        />
      ))}
      <FaultNotice fault={connect.fault} />
      <Field
        label={wallets.length > 0 ? words.payoutWallet.otherWallet : words.payoutWallet.wallet}
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

async function challenge(wallet: string): Promise<string> {
  const answer = await call<{ message: string }>('POST', '/creators/payout-wallet/challenge', {
    body: { wallet },
  })
  return answer.message
}

/** Connects a wallet and lets it sign the message for its account. */
async function proveBy(wallet: Wallet): Promise<Proof> {
  const { address } = await connectWallet(wallet)
  const message = new TextEncoder().encode(await challenge(address))
  return { wallet: address, signature: toBase58(await signMessageWithWallet(wallet, address, message)) }
}
