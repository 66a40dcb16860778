import type { JSX } from 'preact'
import { words } from '../../i18n/dashboard.js'
import { animations, defaults, type Parameters, positions, themes } from '../../overlay/parameters.js'
import { Field } from '../../ui/field.js'

type Change = (change: Partial<Parameters>) => void

interface Part {
  readonly parameters: Parameters
  readonly onChange: Change
}

/** Everything about the overlay that an address can say; it is all in the address of this screen, too. */
export function OverlayForm({ parameters, onChange }: Part): JSX.Element {
  const text = words.overlay.form
  const number = (
    key: 'durationMs' | 'gapMs' | 'minUsd' | 'scale' | 'queue' | 'replayMinutes' | 'volume',
    { unit = 1, step = 1, least = 0 }: { unit?: number; step?: number; least?: number },
  ): JSX.Element => (
    <Field label={text[key]}>
      <input
        class="input number"
        type="number"
        min={least}
        step={step}
        value={parameters[key] / unit}
        onChange={({ currentTarget }) => {
          const value = currentTarget.valueAsNumber
          onChange({ [key]: Number.isFinite(value) ? value * unit : defaults[key] })
        }}
      />
    </Field>
  )
  return (
    <section class="card" aria-labelledby="look-title">
      <h2 id="look-title">{text.title}</h2>
      <form class="form-grid" onSubmit={(event) => event.preventDefault()}>
        <Field label={text.template} hint={text.templateHint}>
          <input
            class="input"
            maxLength={200}
            value={parameters.template}
            onChange={({ currentTarget }) => onChange({ template: currentTarget.value || defaults.template })}
          />
        </Field>
        <Choice
          label={text.position}
          value={parameters.position}
          choices={positions}
          onChange={(position) => onChange({ position })}
        />
        <Choice
          label={text.animation}
          value={parameters.animation}
          choices={animations}
          onChange={(animation) => onChange({ animation })}
        />
        <Choice
          label={text.theme}
          value={parameters.theme}
          choices={themes}
          onChange={(theme) => onChange({ theme })}
        />
        <Field label={text.accent}>
          <input
            class="input input--colour"
            type="color"
            value={parameters.accent}
            onChange={({ currentTarget }) => onChange({ accent: currentTarget.value })}
          />
        </Field>
        {number('durationMs', { unit: 1000, step: 0.5, least: 1 })}
        {number('gapMs', { unit: 1000, step: 0.1 })}
        {number('minUsd', { step: 0.5 })}
        {number('scale', { step: 0.1, least: 0.3 })}
        {number('queue', { least: 1 })}
        {number('replayMinutes', {})}
        <Tick label={text.message} value={parameters.message} onChange={(message) => onChange({ message })} />
        <Tick label={text.sound} value={parameters.sound} onChange={(sound) => onChange({ sound })} />
        {parameters.sound && number('volume', { step: 0.1 })}
        <Tick label={text.hold} value={parameters.hold} onChange={(hold) => onChange({ hold })} />
        <Tick label={text.dot} value={parameters.dot} onChange={(dot) => onChange({ dot })} />
      </form>
    </section>
  )
}

function Choice<Key extends string>({
  label,
  value,
  choices,
  onChange,
}: {
  readonly label: string
  readonly value: Key
  readonly choices: readonly Key[]
  readonly onChange: (choice: Key) => void
}): JSX.Element {
  return (
    <Field label={label}>
      <select
        class="input"
        value={value}
        onChange={({ currentTarget }) => {
          const chosen = choices.find((choice) => choice === currentTarget.value)
          if (chosen !== undefined) onChange(chosen)
        }}
      >
        {choices.map((choice) => (
          <option key={choice} value={choice}>
            {words.overlay.form.choices[choice as keyof typeof words.overlay.form.choices]}
          </option>
        ))}
      </select>
    </Field>
  )
}

/** A box to tick, its words beside it. */
export function Tick({
  label,
  value,
  onChange,
}: {
  readonly label: JSX.Element | string
  readonly value: boolean
  readonly onChange: (value: boolean) => void
}): JSX.Element {
  return (
    <label class="tick">
      <input
        type="checkbox"
        checked={value}
        onChange={({ currentTarget }) => onChange(currentTarget.checked)}
      />
      <span>{label}</span>
    </label>
  )
}
