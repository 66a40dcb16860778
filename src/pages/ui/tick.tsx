import type { JSX } from 'preact'
import './tick.css'

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
