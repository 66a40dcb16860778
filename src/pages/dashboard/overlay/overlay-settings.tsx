import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { sendTestAlert } from '../../lib/test-alert.js'
import { defaults, type Parameters, readParameters, writeParameters } from '../../overlay/parameters.js'
import { Button } from '../../ui/controls/button.js'
import { CopyButton } from '../../ui/controls/copy-button.js'
import { Notice } from '../../ui/messages/notice.js'
import { replaceQuery, useRoute } from '../route.js'
import { useSession } from '../session.js'
import { OverlayForm } from './overlay-form.js'

/** The preview reloads this long after the last change. */
const previewDelayMs = 400

const copiedKey = (wallet: string): string => `overlay-copied:${wallet}`

/** Whether the overlay's URL was copied in this browser: the best sign we have that the creator uses it. */
export function overlayWasCopied(wallet: string): boolean {
  return localStorage.getItem(copiedKey(wallet)) !== null
}

/** Preview, parameters and URL of the overlay. */
export function OverlaySettings(): JSX.Element {
  const wallet = useSession().me.walletPublicKey
  if (wallet === null)
    return (
      <Notice tone="plain" icon="wait">
        {words.setUp.walletComing}
      </Notice>
    )
  return <OverlayEditor wallet={wallet} />
}

function OverlayEditor({ wallet }: { readonly wallet: string }): JSX.Element {
  const { query } = useRoute()
  const parameters: Parameters = { ...readParameters(query), wallet, preview: false }
  const address = addressOf(parameters)
  const preview = useDebounced(addressOf({ ...parameters, preview: true, dot: false }))
  return (
    <div class="overlay">
      <section class="card overlay__show" aria-labelledby="preview-title">
        <h2 id="preview-title">{words.overlay.preview}</h2>
        <iframe class="overlay__frame" title={words.overlay.preview} src={preview} />
        <Button onPress={() => sendTestAlert(wallet)}>{words.overlay.test}</Button>
        <p class="quiet">{words.overlay.testHint}</p>
        <h3>{words.overlay.address}</h3>
        <code class="secret">{address}</code>
        <div onClickCapture={() => localStorage.setItem(copiedKey(wallet), '1')}>
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

/** The value, updated once it has not changed for a moment. */
function useDebounced(value: string): string {
  const [debounced, setDebounced] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setDebounced(value), previewDelayMs)
    return () => clearTimeout(timer)
  }, [value])
  return debounced
}
