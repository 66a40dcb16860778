import type { JSX } from 'preact'

/** A checkbox with its label. */
export function Checkbox({
  label,
  value,
  onChange,
}: {
  readonly label: JSX.Element | string
  readonly value: boolean
  readonly onChange: (value: boolean) => void
}): JSX.Element {
  return (
    <label class="checkbox">
      <input
        type="checkbox"
        checked={value}
        onChange={({ currentTarget }) => onChange(currentTarget.checked)}
      />
      <span>{label}</span>
    </label>
  )
}
