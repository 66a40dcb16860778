import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { sendTestAlert } from '../../lib/test-alert.js'
import { defaults, type Parameters, readParameters, writeParameters } from '../../overlay/parameters.js'
import { Button } from '../../ui/button.js'
import { CopyButton } from '../../ui/copy-button.js'
import { Notice } from '../../ui/notice.js'
import { replaceQuery, useRoute } from '../route.js'
import { useSession } from '../session.js'
import { noteOverlayCopied } from './copied.js'
import { OverlayForm } from './overlay-form.js'

/** The preview follows the form when it has come to a rest. */
const restMs = 400

/** The overlay as it will look, what can be changed about it, and its address. */
export function OverlaySettings(): JSX.Element {
  const wallet = useSession().me.walletPublicKey
  if (wallet === null)
    return (
      <Notice tone="plain" icon="wait">
        {words.setUp.walletComing}
      </Notice>
    )
  return <WithWallet wallet={wallet} />
}

function WithWallet({ wallet }: { readonly wallet: string }): JSX.Element {
  const { query } = useRoute()
  const parameters: Parameters = { ...readParameters(query), wallet, preview: false }
  const address = addressOf(parameters)
  const preview = useRested(addressOf({ ...parameters, preview: true, dot: false }))
  return (
    <div class="overlay">
      <section class="card overlay__show" aria-labelledby="preview-title">
        <h2 id="preview-title">{words.overlay.preview}</h2>
        <iframe class="overlay__frame" title={words.overlay.preview} src={preview} />
        <Button onPress={() => sendTestAlert(wallet)}>{words.overlay.test}</Button>
        <p class="quiet">{words.overlay.testHint}</p>
        <h3>{words.overlay.address}</h3>
        <code class="secret">{address}</code>
        <div onClickCapture={() => noteOverlayCopied(wallet)}>
          <CopyButton value={address} label={words.overlay.address} />
        </div>
        <ol class="how">
          {words.overlay.how.map((step) => (
            <li key={step}>{step}</li>
          ))}
        </ol>
      </section>
      <OverlayForm
        parameters={parameters}
        onChange={(change) => {
          const next = writeParameters({ ...parameters, ...change, wallet: defaults.wallet })
          replaceQuery(next)
        }}
      />
    </div>
  )
}

function addressOf(parameters: Parameters): string {
  return `${location.origin}/overlay?${writeParameters(parameters)}`
}

/** A value once it has stayed the same for a moment. */
function useRested(value: string): string {
  const [rested, setRested] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setRested(value), restMs)
    return () => clearTimeout(timer)
  }, [value])
  return rested
}
