import type { JSX } from 'preact'

/** A few choices that are all seen, one of them taken. */
export function Choices<Key extends string>({
  name,
  legend,
  choices,
  texts,
  chosen,
  onChoose,
}: {
  readonly name: string
  readonly legend: string
  readonly choices: readonly Key[]
  readonly texts: Readonly<Record<Key, string>>
  readonly chosen: Key
  readonly onChoose: (choice: Key) => void
}): JSX.Element {
  return (
    <fieldset class="choices">
      <legend class="heard-only">{legend}</legend>
      {choices.map((choice) => (
        <label key={choice} class="choices__choice">
          <input type="radio" name={name} checked={choice === chosen} onChange={() => onChoose(choice)} />
          <span>{texts[choice]}</span>
        </label>
      ))}
    </fieldset>
  )
}
