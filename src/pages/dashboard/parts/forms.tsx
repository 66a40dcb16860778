import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { Button } from '../../ui/buttons.js'
import { Form } from '../../ui/fields.js'
import { Notice } from '../../ui/messages.js'
import { useSubmit } from '../requests.js'
import { useLeaveQuestion } from '../route.js'
import { FaultNotice } from './notices.js'

/** The end of a form: what went wrong, and the button that sends it. */
export function Submit({
  text,
  kind = 'primary',
  busy = false,
  fault,
}: {
  readonly text: string
  readonly kind?: 'primary' | 'plain' | 'danger'
  readonly busy?: boolean
  /** An error code that no field shows. */
  readonly fault?: string | undefined
}): JSX.Element {
  return (
    <>
      <FaultNotice fault={fault} />
      <Button kind={kind} type="submit" busy={busy}>
        {text}
      </Button>
    </>
  )
}

/** How a dialog ends. */
export interface Ending {
  readonly onClose: () => void
  /** After it was closed because its work is done. */
  readonly onDone: () => void
}

/** A dialog that asks for something and does it. */
export function FormDialog({
  title,
  kind = 'danger',
  submit,
  cancel = words.cancel,
  otherWay,
  busy,
  fault,
  onSubmit,
  onClose,
  children,
}: {
  readonly title: string
  readonly kind?: 'primary' | 'danger'
  readonly submit: string
  readonly cancel?: string
  /** Stands below the button that submits. */
  readonly otherWay?: JSX.Element | false
  readonly busy: boolean
  /** An error code that no field shows. */
  readonly fault?: string | undefined
  readonly onSubmit: () => void
  readonly onClose: () => void
  readonly children: ComponentChildren
}): JSX.Element {
  return (
    <Dialog title={title} onClose={onClose}>
      <Form onSubmit={onSubmit}>
        {children}
        <Submit text={submit} kind={kind} busy={busy} fault={fault} />
        {otherWay}
        <Button onPress={onClose}>{cancel}</Button>
      </Form>
    </Dialog>
  )
}

/** Asks before something is done that the person may regret. */
export function Question({
  effect,
  act,
  onDone,
  ...dialog
}: Ending & {
  readonly title: string
  /** What happens after a yes. */
  readonly effect: string
  readonly submit: string
  readonly cancel?: string
  readonly act: () => Promise<unknown>
}): JSX.Element {
  const doing = useSubmit(async () => {
    await act()
    dialog.onClose()
    onDone()
  })
  return (
    <FormDialog {...dialog} busy={doing.busy} fault={doing.fault} onSubmit={doing.run}>
      <p>{effect}</p>
    </FormDialog>
  )
}

/** Shows what is never shown again, so Escape does not close it. */
export function OnceDialog({
  title,
  text,
  onStored,
  children,
}: {
  readonly title: string
  readonly text: { readonly once: string; readonly stored: string; readonly leave: string }
  readonly onStored: () => void
  readonly children: ComponentChildren
}): JSX.Element {
  useLeaveQuestion(true, text.leave)
  return (
    <Dialog title={title}>
      <Notice tone="warn" icon="warn">
        {text.once}
      </Notice>
      {children}
      <Button kind="primary" onPress={onStored}>
        {text.stored}
      </Button>
    </Dialog>
  )
}

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
