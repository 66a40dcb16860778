import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import './dialog.css'

/**
 * A dialog over the page; the browser keeps the focus inside and gives it back. Without `onClose` it stays until what it
 * asks is done.
 */
export function Dialog({
  title,
  side = false,
  onClose,
  children,
}: {
  readonly title: string
  /** At the side of the page in its whole height, for looking at one of many. */
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
        // Some browsers close at the second Escape whatever the page says.
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
