import { words } from '../../i18n/dashboard.js'
import { sendTestAlert } from '../../lib/browser.js'
import {
  animations,
  defaults,
  type Parameters,
  positions,
  readParameters,
  themes,
  writeParameters,
} from '../../overlay/parameters.js'
import { Checkbox, Field, Select } from '../../ui/fields.js'
import { Button, CopyButton, Notice } from '../../ui/kit.js'
import { useDebounced } from '../dates.js'
import { Card } from '../parts/cards.js'
import { NumberField, useTyped } from '../parts/fields.js'
import { replaceQuery, useRoute } from '../route.js'
import { useSession } from '../session.js'

/** The preview reloads this long after the last change. */
const previewDelayMs = 400

const copiedKey = (wallet: string): string => `overlay-copied:${wallet}`

/** Whether the overlay's URL was copied in this browser: the best sign we have that the creator uses it. */
export function overlayWasCopied(wallet: string): boolean {
  return localStorage.getItem(copiedKey(wallet)) !== null
}

export function OverlaySettings() {
  const wallet = useSession().me.walletPublicKey
  if (wallet === null) return <Notice tone="plain" text={words.setUp.walletComing} />
  return <OverlayEditor wallet={wallet} />
}

function OverlayEditor({ wallet }: { readonly wallet: string }) {
  const { query } = useRoute()
  const parameters: Parameters = { ...readParameters(query), wallet, preview: false }
  const address = addressOf(parameters)
  const preview = useDebounced(addressOf({ ...parameters, preview: true, dot: false }), previewDelayMs)
  return (
    <div class="columns">
      <Card name="preview" title={words.overlay.preview}>
        <iframe class="overlay__frame" title={words.overlay.preview} src={preview} />
        <Button text={words.overlay.test} onPress={() => sendTestAlert(wallet)} />
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
      </Card>
      <OverlayForm
        parameters={parameters}
        onChange={(change) =>
          replaceQuery(writeParameters({ ...parameters, ...change, wallet: defaults.wallet }))
        }
      />
    </div>
  )
}

function addressOf(parameters: Parameters): string {
  return `${location.origin}/overlay?${writeParameters(parameters)}`
}

const selects = { position: positions, animation: animations, theme: themes } as const

type OverlayFormProps = { parameters: Parameters; onChange: (change: Partial<Parameters>) => void }

/** All overlay parameters. The values are also in the URL of this screen. */
function OverlayForm({ parameters, onChange }: OverlayFormProps) {
  const text = words.overlay.form
  const template = useTyped(parameters.template, (text) => onChange({ template: text || defaults.template }))
  const number = (
    key: 'durationMs' | 'gapMs' | 'minUsd' | 'scale' | 'queue' | 'replayMinutes' | 'volume',
    unit = 1,
  ) => (
    <NumberField
      label={text[key]}
      value={parameters[key] / unit}
      onChange={(value) => onChange({ [key]: value === undefined ? defaults[key] : value * unit })}
    />
  )
  const select = (key: keyof typeof selects) => (
    <Select<Parameters[typeof key]>
      label={text[key]}
      choices={selects[key]}
      texts={text.choices}
      chosen={parameters[key]}
      onChoose={(chosen) => onChange({ [key]: chosen })}
    />
  )
  const check = (key: 'message' | 'sound' | 'hold' | 'dot') => (
    <Checkbox label={text[key]} value={parameters[key]} onChange={(value) => onChange({ [key]: value })} />
  )
  return (
    <Card name="look" title={text.title}>
      <form class="stack" onSubmit={(event) => event.preventDefault()}>
        <Field label={text.template} hint={text.templateHint}>
          <input class="input" maxLength={200} {...template} />
        </Field>
        <div class="pair">
          {select('position')}
          {select('animation')}
          {select('theme')}
          <Field label={text.accent}>
            <input
              class="input input--colour"
              type="color"
              value={parameters.accent}
              onChange={({ currentTarget }) => onChange({ accent: currentTarget.value })}
            />
          </Field>
          {number('durationMs', 1000)}
          {number('gapMs', 1000)}
          {number('minUsd')}
          {number('scale')}
          {number('queue')}
          {number('replayMinutes')}
        </div>
        {check('message')}
        {check('sound')}
        {parameters.sound && number('volume')}
        {check('hold')}
        {check('dot')}
      </form>
    </Card>
  )
}
