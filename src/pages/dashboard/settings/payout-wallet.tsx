import type { Wallet } from '@wallet-standard/base'
import { useState } from 'preact/hooks'
import { encodeBase58 } from '../../../kernel/base58.js'
import { words } from '../../i18n/dashboard.js'
import { connectWallet, signMessageWithWallet } from '../../lib/wallets.js'
import { Form, RadioGroup, TextField } from '../../ui/fields.js'
import { Button } from '../../ui/kit.js'
import type { Creator, PayoutWallet, Profile } from '../answers.js'
import { call } from '../api.js'
import { Card } from '../parts/cards.js'
import { SignatureField } from '../parts/fields.js'
import { Submit } from '../parts/forms.js'
import { FaultNotice } from '../parts/notices.js'
import { askWallet, useWallets, WalletButton } from '../parts/wallets.js'
import { useForm, useLoad, useSubmit } from '../requests.js'
import { needsStepUp, type SteppedUpRequest, StepUp } from '../security/step-up.js'

const path = '/creators/payout-wallet'
const destinations = ['custody', 'payout_wallet'] as const

type PayoutWalletCardProps = { onSaved?: (profile: Creator) => void; onChanged?: () => void }

/** A wallet of the creator's own: its proof by a signature, and whether new tips go to it. Each change takes a step-up. */
export function PayoutWalletCard({ onSaved, onChanged }: PayoutWalletCardProps) {
  const { data, fault, reload } = useLoad<PayoutWallet>(path)
  const [asked, setAsked] = useState<{ readonly request: SteppedUpRequest; readonly what: string }>()
  const change = useSubmit(async (what: string, work: (proof: object) => Promise<unknown>) => {
    const request: SteppedUpRequest = async (proof) => {
      await work(proof)
      setAsked(undefined)
      reload()
      onChanged?.()
    }
    if (await needsStepUp(request)) setAsked({ request, what })
  })
  if (data === undefined) return <FaultNotice fault={fault} onRetry={reload} />
  const { payoutWallet } = data
  const text = words.payoutWallet
  return (
    <Card name="payout" title={text.title}>
      {asked !== undefined ? (
        <StepUp request={asked.request} onCancel={() => setAsked(undefined)}>
          {asked.what}
        </StepUp>
      ) : payoutWallet === null ? (
        <ProofForm
          busy={change.busy}
          onProof={(given) =>
            change.run(text.confirmAdd(given.wallet), (proof) =>
              call('PUT', path, { body: { ...given, ...proof } }),
            )
          }
        />
      ) : (
        <>
          <code class="secret">{payoutWallet.wallet}</code>
          <RadioGroup
            name="tips-to"
            legend={text.tipsTo}
            choices={destinations}
            texts={text.destinations}
            chosen={payoutWallet.takesTips ? 'payout_wallet' : 'custody'}
            stacked
            onChoose={(tipsTo) =>
              change.run(text.confirmTipsTo[tipsTo], async (proof) => {
                const body = { settings: { tipsTo }, ...proof }
                onSaved?.((await call<Profile>('PATCH', '/creators/me', { body })).creator)
              })
            }
          />
          <p class="quiet">{text.effect}</p>
          <Button
            busy={change.busy}
            text={text.remove}
            onPress={() => change.run('', () => call('DELETE', path))}
          />
        </>
      )}
      <FaultNotice fault={change.fault} />
    </Card>
  )
}

interface WalletProof {
  readonly wallet: string
  readonly signature: string
}

/** Proves a wallet: by asking one of this browser, or by its address, a message and the signature. */
function ProofForm({ busy, onProof }: { busy: boolean; onProof: (proof: WalletProof) => void }) {
  const [message, setMessage] = useState<string>()
  const { wallets } = useWallets('solana:signMessage')
  const form = useForm({ wallet: '', signature: '' }, async (typed) => {
    const wallet = typed.wallet.trim()
    if (message === undefined) setMessage(await challenge(wallet))
    else onProof({ wallet, signature: typed.signature.trim() })
  })
  const connect = useSubmit(async (one: Wallet) => onProof(await askWallet(() => proveBy(one))))
  const text = words.payoutWallet
  return (
    <Form onSubmit={form.run}>
      {wallets.map((one) => (
        <WalletButton
          key={one.name}
          wallet={one}
          text={text.use(one.name)}
          busy={busy || connect.busy}
          onPress={() => connect.run(one)}
        />
      ))}
      <FaultNotice fault={connect.fault} />
      <TextField
        label={wallets.length > 0 ? text.otherWallet : text.wallet}
        hint={text.hint}
        required
        spellcheck={false}
        {...form.field('wallet', 'all')}
        onInput={(wallet) => {
          form.set({ wallet })
          setMessage(undefined)
        }}
      />
      {message !== undefined && (
        <SignatureField advice={text.sign} message={message} {...form.field('signature')} />
      )}
      <Submit text={message === undefined ? words.next : text.set} kind="plain" busy={busy || form.busy} />
    </Form>
  )
}

async function challenge(wallet: string): Promise<string> {
  return (await call<{ message: string }>('POST', `${path}/challenge`, { body: { wallet } })).message
}

/** Connects a wallet and lets it sign the message for its account. */
async function proveBy(wallet: Wallet): Promise<WalletProof> {
  const { address } = await connectWallet(wallet)
  const message = new TextEncoder().encode(await challenge(address))
  return { wallet: address, signature: encodeBase58(await signMessageWithWallet(wallet, address, message)) }
}
