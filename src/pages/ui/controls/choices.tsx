import type { JSX } from 'preact'
import { Field } from './field.js'

interface Choices<Key extends string> {
  readonly choices: readonly Key[]
  readonly texts: Readonly<Record<Key, string>>
  readonly chosen: Key
  readonly onChoose: (choice: Key) => void
}

/** A select element with its label. */
export function Select<Key extends string>({
  label,
  choices,
  texts,
  chosen,
  onChoose,
}: Choices<Key> & { readonly label: string }): JSX.Element {
  return (
    <Field label={label}>
      <select
        class="input"
        value={chosen}
        onChange={({ currentTarget }) => onChoose(choices[currentTarget.selectedIndex] ?? chosen)}
      >
        {choices.map((choice) => (
          <option key={choice} value={choice}>
            {texts[choice]}
          </option>
        ))}
      </select>
    </Field>
  )
}

/** A group of radio buttons. `stacked`: for long texts, each choice has a line of its own. */
export function RadioGroup<Key extends string>({
  name,
  legend,
  choices,
  texts,
  chosen,
  stacked = false,
  onChoose,
}: Choices<Key> & {
  readonly name: string
  readonly legend: string
  readonly stacked?: boolean
}): JSX.Element {
  return (
    <fieldset class={`choices ${stacked ? 'choices--stacked' : ''}`}>
      <legend class="visually-hidden">{legend}</legend>
      {choices.map((choice) => (
        <label key={choice} class="choices__choice">
          <input type="radio" name={name} checked={choice === chosen} onChange={() => onChoose(choice)} />
          <span>{texts[choice]}</span>
        </label>
      ))}
    </fieldset>
  )
}
