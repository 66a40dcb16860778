import type { JSX } from 'preact'
import { Field } from '../../../ui/controls/field.js'

/** A select element with its label. */
export function Select<Key extends string>({
  label,
  choices,
  texts,
  chosen,
  onChoose,
}: {
  readonly label: string
  readonly choices: readonly Key[]
  readonly texts: Readonly<Record<Key, string>>
  readonly chosen: Key
  readonly onChoose: (choice: Key) => void
}): JSX.Element {
  return (
    <Field label={label}>
      <select
        class="input"
        value={chosen}
        onChange={({ currentTarget }) => {
          const choice = choices.find((one) => one === currentTarget.value)
          if (choice !== undefined) onChoose(choice)
        }}
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
