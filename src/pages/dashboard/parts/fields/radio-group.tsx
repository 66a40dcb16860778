import type { JSX } from 'preact'

/** A group of radio buttons. */
export function RadioGroup<Key extends string>({
  name,
  legend,
  choices,
  texts,
  chosen,
  stacked = false,
  onChoose,
}: {
  readonly name: string
  readonly legend: string
  readonly choices: readonly Key[]
  readonly texts: Readonly<Record<Key, string>>
  readonly chosen: Key
  /** For long texts: each choice has a line of its own. */
  readonly stacked?: boolean
  readonly onChoose: (choice: Key) => void
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
