import { useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { Select } from '../../ui/fields.js'
import { Button, CopyButton } from '../../ui/kit.js'
import type { Overlay, OverlayAnswer } from '../answers.js'
import { Card } from '../parts/cards.js'
import { NumberField } from '../parts/fields.js'
import { rememberAlert } from '../parts/first-alert.js'
import { Question } from '../parts/forms.js'
import { FaultNotice, Unread } from '../parts/notices.js'
import { useLoad, useSubmit } from '../requests.js'
import { useDrawer } from '../route.js'
import { useSession } from '../session.js'
import { LookCard, TierCard } from './look-form.js'
import { OverlayTips, WordsCard } from './overlay-tips.js'
import { type EditedOverlay, overlayPath, useOverlay } from './use-overlay.js'

export function OverlaySettings() {
  const load = useLoad<OverlayAnswer>(overlayPath)
  return load.data === undefined ? <Unread of={load} /> : <OverlayEditor first={load.data.overlay} />
}

function OverlayEditor({ first }: { readonly first: Overlay }) {
  const edited = useOverlay(first)
  return (
    <div class="columns">
      <PreviewCard of={edited} />
      <div class="stack">
        <OverlayTips />
        <WordsCard of={edited} />
      </div>
      <LookCard of={edited} />
      <TierCard of={edited} />
    </div>
  )
}

const shows = ['alerts', 'goal', 'top', 'latest'] as const
const usualTestUsd = 5

/** The preview is the overlay itself: it shows what open overlays show. */
function PreviewCard({ of: edited }: { readonly of: EditedOverlay }) {
  const { me } = useSession()
  const drawer = useDrawer()
  const [show, setShow] = useState<(typeof shows)[number]>('alerts')
  const [amountUsd, setAmountUsd] = useState(usualTestUsd)
  const test = useSubmit(async () => {
    await edited.test(amountUsd)
    rememberAlert(me.walletPublicKey)
  })
  const text = words.overlay
  const address = show === 'alerts' ? edited.url : `${edited.url}?show=${show}`
  const { pathname } = new URL(edited.url)
  return (
    <Card name="preview" title={text.preview}>
      <iframe
        key={`${pathname} ${show}`}
        class="overlay__frame"
        title={text.preview}
        src={`${pathname}?preview=1&show=${show}`}
      />
      <FaultNotice fault={edited.fault ?? test.fault} />
      <div class="pair">
        <NumberField
          label={text.testUsd}
          value={amountUsd}
          onChange={(value) => setAmountUsd(Math.min(Math.max(value ?? usualTestUsd, 0.01), 1e6))}
        />
        <Select label={text.show} choices={shows} texts={text.shows} chosen={show} onChoose={setShow} />
      </div>
      <Button text={text.test} does={test} />
      <p class="quiet">{text.testHint}</p>
      <h3>{text.address}</h3>
      <code class="secret">{address}</code>
      <div class="row" onClickCapture={() => rememberAlert(me.walletPublicKey)}>
        <CopyButton value={address} label={text.address} />
      </div>
      <ol class="how">
        {text.how.map((step) => (
          <li key={step}>{step}</li>
        ))}
      </ol>
      <Button text={text.renew} onPress={() => drawer.show('renew')} />
      {drawer.open === 'renew' && (
        <Question
          title={text.renew}
          effect={text.renewEffect}
          submit={text.renew}
          act={edited.renew}
          onClose={drawer.close}
          onDone={() => undefined}
        />
      )}
    </Card>
  )
}
