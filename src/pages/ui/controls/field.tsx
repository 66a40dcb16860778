import { cloneElement, type HTMLAttributes, type JSX, type VNode } from 'preact'
import { useState } from 'preact/hooks'

/** Preact's useId repeats an id when a sibling is added later, so ids are counted here. */
let last = 0

/**
 * A labelled input with its hint. A fault replaces the hint in the same place, so the layout does not move. Screen readers
 * announce the fault when it appears and read it with the input.
 */
export function Field({
  label,
  hint,
  fault,
  children,
}: {
  readonly label: string
  readonly hint?: string | undefined
  readonly fault?: string | undefined
  /** One input, select or textarea. */
  readonly children: VNode<HTMLAttributes>
}): JSX.Element {
  const [id] = useState(() => {
    last += 1
    return `field-${last}`
  })
  const described = fault ? `${id}-fault` : hint && `${id}-hint`
  return (
    <div class="field">
      <label class="field__label" for={id}>
        {label}
      </label>
      {cloneElement(children, {
        id,
        ...(described && { 'aria-describedby': described }),
        ...(fault && { 'aria-invalid': true }),
      })}
      {hint && !fault && (
        <span class="field__hint" id={`${id}-hint`}>
          {hint}
        </span>
      )}
      {fault && (
        <span class="field__fault" id={`${id}-fault`} role="alert">
          {fault}
        </span>
      )}
    </div>
  )
}
