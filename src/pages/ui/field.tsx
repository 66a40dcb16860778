import { cloneElement, type HTMLAttributes, type JSX, type VNode } from 'preact'
import { useState } from 'preact/hooks'

/** Ids are counted: Preact's own repeat themselves once a sibling appears. */
let last = 0

/**
 * A labelled input with its hint or, in the same place, its fault: nothing moves under the finger that is about to press
 * a button. The fault is announced when it appears, and belongs to the input for readers.
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
