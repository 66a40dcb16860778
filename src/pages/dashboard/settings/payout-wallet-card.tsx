import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { Button } from '../../ui/controls/button.js'
import type { PayoutWallet, Profile } from '../answers.js'
import { call } from '../api.js'
import { FaultNotice } from '../parts/fault-notice.js'
import { RadioGroup } from '../parts/fields/radio-group.js'
import { needsStepUp, type SteppedUpRequest, StepUp } from '../security/step-up.js'
import { useLoad } from '../use-load.js'
import { useSubmit } from '../use-submit.js'
import { ProofForm } from './proof-form.js'

const path = '/creators/payout-wallet'
const destinations = ['custody', 'payout_wallet'] as const
type Destination = (typeof destinations)[number]

/** A wallet of the creator's own: its proof by a signature, and whether new tips go to it. Each change takes a step-up. */
export function PayoutWalletCard({
  onSaved,
  onChanged,
}: {
  readonly onSaved?: (profile: Profile) => void
  readonly onChanged?: () => void
}): JSX.Element | null {
  const { data, fault, reload } = useLoad<{ payoutWallet: PayoutWallet | null }>(path)
  /** What waits for its proof. */
  const [asked, setAsked] = useState<{ readonly request: SteppedUpRequest; readonly what: string }>()
  const change = useSubmit(async (what: string, work: SteppedUpRequest) => {
    const request: SteppedUpRequest = async (proof) => {
      await work(proof)
      setAsked(undefined)
      reload()
      onChanged?.()
    }
    if (await needsStepUp(request)) setAsked({ request, what })
  })
  if (data === undefined) return fault === undefined ? null : <FaultNotice fault={fault} onRetry={reload} />
  const { payoutWallet } = data
  const chooseDestination = (tipsTo: Destination): void =>
    change.run(words.payoutWallet.confirmTipsTo[tipsTo], async (proof) => {
      const body = { settings: { tipsTo }, ...proof }
      onSaved?.((await call<{ creator: Profile }>('PATCH', '/creators/me', { body })).creator)
    })
  return (
    <section class="card stack" aria-labelledby="payout-title">
      <h2 id="payout-title">{words.payoutWallet.title}</h2>
      {asked !== undefined ? (
        <StepUp request={asked.request} onCancel={() => setAsked(undefined)}>
          {asked.what}
        </StepUp>
      ) : payoutWallet === null ? (
        <ProofForm
          busy={change.busy}
          onProof={(given) =>
            change.run(words.payoutWallet.confirmAdd(given.wallet), async (proof) => {
              await call('PUT', path, { body: { ...given, ...proof } })
            })
          }
        />
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
              change.run('', async () => {
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
