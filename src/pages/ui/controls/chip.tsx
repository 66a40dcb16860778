import type { JSX } from 'preact'
import './chip.css'

/** A radio button that looks like a chip. */
export function Chip({
  name,
  checked,
  onChoose,
  children,
}: {
  readonly name: string
  readonly checked: boolean
  readonly onChoose: () => void
  readonly children: string
}): JSX.Element {
  return (
    <label class="chip">
      <input type="radio" name={name} checked={checked} onChange={onChoose} />
      <span>{children}</span>
    </label>
  )
}
