import { words } from '../../i18n/dashboard.js'
import { Checkbox, Field, Select } from '../../ui/fields.js'
import { Button, TextButton } from '../../ui/kit.js'
import type { OverlaySettings } from '../answers.js'
import { call } from '../api.js'
import { Card } from '../parts/cards.js'
import { NumberField, useTyped } from '../parts/fields.js'
import { FaultNotice } from '../parts/notices.js'
import { useSubmit } from '../requests.js'
import { type EditedOverlay, overlayPath } from './use-overlay.js'

const choices = {
  position: ['bottom', 'top', 'left', 'right', 'center'],
  animation: ['slide', 'fade', 'pop', 'none'],
  theme: ['dark', 'light'],
  sound: ['none', 'chime', 'bell', 'coins', 'fanfare'],
} as const satisfies { readonly [Key in keyof OverlaySettings]?: readonly OverlaySettings[Key][] }
/** The least and the most of each number, in the unit of the field, and what the service counts in. */
const ranges = {
  durationMs: [1, 60, 1000],
  gapMs: [0, 60, 1000],
  minUsd: [0, 1e6, 1],
  scale: [0.25, 4, 1],
  queue: [1, 500, 1],
  replayMinutes: [0, 1440, 1],
  volume: [0, 1, 1],
  topDays: [1, 366, 1],
} as const
const whole = ['queue', 'topDays']

const usualTemplate = '{sender} tipped {amount} {token}'
const mostTiers = 10
const text = words.overlay.form

interface OfOverlay {
  readonly of: EditedOverlay
}

/** A number out of its range becomes the nearest one that is allowed. An empty field changes nothing. */
function RangeField({ of: { settings, change }, name }: OfOverlay & { readonly name: keyof typeof ranges }) {
  const [least, most, unit] = ranges[name]
  return (
    <NumberField
      label={text[name]}
      value={settings[name] / unit}
      onChange={(value) => {
        if (value === undefined) return
        const inRange = Math.min(Math.max(value, least), most)
        change({ [name]: (whole.includes(name) ? Math.round(inRange) : inRange) * unit })
      }}
    />
  )
}

type TemplateFieldProps = { value: string; placeholder?: string; onChange: (template: string) => void }

function TemplateField({ value, placeholder, onChange }: TemplateFieldProps) {
  const typed = useTyped(value, (template) => onChange(template.trim()))
  return (
    <Field label={text.template} hint={text.templateHint}>
      <input class="input" maxLength={200} placeholder={placeholder} {...typed} />
    </Field>
  )
}

export function LookCard({ of }: OfOverlay) {
  const { settings, change } = of
  const select = (name: keyof typeof choices) => (
    <Select<OverlaySettings[typeof name]>
      label={text[name]}
      choices={choices[name]}
      texts={text.choices}
      chosen={settings[name]}
      onChoose={(chosen) => change({ [name]: chosen })}
    />
  )
  const check = (name: 'message' | 'hold' | 'dot') => (
    <Checkbox label={text[name]} value={settings[name]} onChange={(value) => change({ [name]: value })} />
  )
  return (
    <Card name="look" title={text.title}>
      <form class="stack" onSubmit={(event) => event.preventDefault()}>
        <TemplateField
          value={settings.template}
          onChange={(template) => change({ template: template || usualTemplate })}
        />
        <div class="pair">
          {select('position')}
          {select('animation')}
          {select('theme')}
          <Field label={text.accent}>
            <input
              class="input input--colour"
              type="color"
              value={settings.accent}
              onChange={({ currentTarget }) => change({ accent: currentTarget.value })}
            />
          </Field>
          <RangeField of={of} name="durationMs" />
          <RangeField of={of} name="gapMs" />
          <RangeField of={of} name="minUsd" />
          <RangeField of={of} name="scale" />
          <RangeField of={of} name="queue" />
          <RangeField of={of} name="replayMinutes" />
          {select('sound')}
          <RangeField of={of} name="volume" />
          <RangeField of={of} name="topDays" />
        </div>
        {check('message')}
        {check('hold')}
        {check('dot')}
      </form>
    </Card>
  )
}

type Tier = OverlaySettings['tiers'][number]
const sameSound = 'same'
const tierSounds = [sameSound, ...choices.sound] as const

/** What differs by amount. */
export function TierCard({ of: { settings, change } }: OfOverlay) {
  const { tiers } = settings
  const replace = (at: number, tier: Tier): void =>
    change({ tiers: tiers.map((one, index) => (index === at ? tier : one)) })
  const highest = Math.max(0, ...tiers.map(({ fromUsd }) => fromUsd))
  return (
    <Card name="tiers" title={text.tiers} lead={text.tiersLead}>
      {tiers.map((tier, at) => (
        <TierFields
          key={at}
          tier={tier}
          onChange={(changed) => replace(at, changed)}
          onRemove={() => change({ tiers: tiers.filter((_, index) => index !== at) })}
        />
      ))}
      {tiers.length < mostTiers && (
        <Button
          text={text.addTier}
          onPress={() => change({ tiers: [...tiers, { fromUsd: highest === 0 ? 10 : highest * 2 }] })}
        />
      )}
    </Card>
  )
}

type TierFieldsProps = { tier: Tier; onChange: (tier: Tier) => void; onRemove: () => void }

function TierFields({ tier, onChange, onRemove }: TierFieldsProps) {
  const { template: _, ...withoutTemplate } = tier
  const { sound: __, ...withoutSound } = tier
  return (
    <fieldset class="stack">
      <legend class="field__label">{text.tier(tier.fromUsd)}</legend>
      <div class="pair">
        <NumberField
          label={text.fromUsd}
          value={tier.fromUsd}
          onChange={(value) => onChange({ ...tier, fromUsd: Math.min(Math.max(value ?? 0, 0), 1e6) })}
        />
        <Select
          label={text.sound}
          choices={tierSounds}
          texts={{ ...text.choices, same: text.same }}
          chosen={tier.sound ?? sameSound}
          onChoose={(sound) => onChange(sound === sameSound ? withoutSound : { ...tier, sound })}
        />
      </div>
      <TemplateField
        value={tier.template ?? ''}
        placeholder={text.same}
        onChange={(template) => onChange(template === '' ? withoutTemplate : { ...tier, template })}
      />
      <PictureField tier={tier} onChange={onChange} />
      <TextButton text={text.removeTier} onPress={onRemove} />
    </fieldset>
  )
}

function PictureField({ tier, onChange }: Omit<TierFieldsProps, 'onRemove'>) {
  const { picture, ...withoutPicture } = tier
  const add = useSubmit(async (file: Blob) => {
    const answer = await call<{ picture: string }>('POST', `${overlayPath}/pictures`, { file })
    onChange({ ...tier, picture: answer.picture })
  })
  return (
    <>
      <Field label={text.picture} hint={text.pictureHint}>
        <input
          class="input"
          type="file"
          accept="image/png,image/jpeg,image/webp"
          onChange={({ currentTarget }) => {
            const [file] = currentTarget.files ?? []
            if (file !== undefined) add.run(file)
          }}
        />
      </Field>
      <FaultNotice fault={add.fault} />
      {picture !== undefined && (
        <TextButton text={text.removePicture} onPress={() => onChange(withoutPicture)} />
      )}
    </>
  )
}
