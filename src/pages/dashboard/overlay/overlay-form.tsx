import type { JSX } from 'preact'
import { words } from '../../i18n/dashboard.js'
import { animations, defaults, type Parameters, positions, themes } from '../../overlay/parameters.js'
import { Checkbox } from '../../ui/controls/checkbox.js'
import { Field } from '../../ui/controls/field.js'
import { NumberField } from '../parts/fields/number-field.js'
import { Select } from '../parts/fields/select.js'
import { useTyped } from '../parts/fields/use-typed.js'

type Change = (change: Partial<Parameters>) => void

interface Part {
  readonly parameters: Parameters
  readonly onChange: Change
}

/** All overlay parameters. The values are also in the URL of this screen. */
export function OverlayForm({ parameters, onChange }: Part): JSX.Element {
  const text = words.overlay.form
  const template = useTyped(parameters.template, (text) => onChange({ template: text || defaults.template }))
  const number = (
    key: 'durationMs' | 'gapMs' | 'minUsd' | 'scale' | 'queue' | 'replayMinutes' | 'volume',
    unit = 1,
  ): JSX.Element => (
    <NumberField
      label={text[key]}
      value={parameters[key] / unit}
      onChange={(value) => onChange({ [key]: value === undefined ? defaults[key] : value * unit })}
    />
  )
  return (
    <section class="card" aria-labelledby="look-title">
      <h2 id="look-title">{text.title}</h2>
      <form class="form-grid" onSubmit={(event) => event.preventDefault()}>
        <Field label={text.template} hint={text.templateHint}>
          <input class="input" maxLength={200} {...template} />
        </Field>
        <Select
          label={text.position}
          choices={positions}
          texts={text.choices}
          chosen={parameters.position}
          onChoose={(position) => onChange({ position })}
        />
        <Select
          label={text.animation}
          choices={animations}
          texts={text.choices}
          chosen={parameters.animation}
          onChoose={(animation) => onChange({ animation })}
        />
        <Select
          label={text.theme}
          choices={themes}
          texts={text.choices}
          chosen={parameters.theme}
          onChoose={(theme) => onChange({ theme })}
        />
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
        <Checkbox
          label={text.message}
          value={parameters.message}
          onChange={(message) => onChange({ message })}
        />
        <Checkbox label={text.sound} value={parameters.sound} onChange={(sound) => onChange({ sound })} />
        {parameters.sound && number('volume')}
        <Checkbox label={text.hold} value={parameters.hold} onChange={(hold) => onChange({ hold })} />
        <Checkbox label={text.dot} value={parameters.dot} onChange={(dot) => onChange({ dot })} />
      </form>
    </section>
  )
}
