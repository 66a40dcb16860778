import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import './dialog.css'

/** A modal dialog; the browser keeps the focus inside and returns it. Without `onClose` the user cannot dismiss it. */
export function Dialog({
  title,
  side = false,
  onClose,
  children,
}: {
  readonly title: string
  /** Shown at the side of the page in full height, for the details of a list entry. */
  readonly side?: boolean
  readonly onClose?: (() => void) | undefined
  readonly children: ComponentChildren
}): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => {
    const element = dialog.current
    element?.showModal()
    return () => element?.close()
  }, [])
  return (
    <dialog
      ref={dialog}
      class={side ? 'dialog dialog--side' : 'dialog'}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault()
        onClose?.()
      }}
      onKeyDown={(event) => {
        // Some browsers close the dialog on a second Escape even when `cancel` was prevented.
        if (event.key !== 'Escape') return
        event.preventDefault()
        onClose?.()
      }}
    >
      <h2 id={id} tabIndex={-1}>
        {title}
      </h2>
      {children}
    </dialog>
  )
}
