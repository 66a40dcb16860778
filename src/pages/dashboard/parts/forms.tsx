import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { Form } from '../../ui/fields.js'
import { Button, Notice } from '../../ui/kit.js'
import { type Submission, useSubmit } from '../requests.js'
import { useLeaveQuestion } from '../route.js'
import { FaultNotice } from './notices.js'

/** The end of a form: what went wrong, and the button that sends it. */
export function Submit({
  text,
  kind = 'primary',
  of,
  busy = of?.busy ?? false,
  fault = of?.untold,
}: {
  readonly text: string
  readonly kind?: 'primary' | 'plain' | 'danger'
  readonly of?: Pick<Submission, 'busy' | 'untold'>
  readonly busy?: boolean
  /** An error code that no field shows. */
  readonly fault?: string | undefined
}) {
  return (
    <>
      <FaultNotice fault={fault} />
      <Button kind={kind} type="submit" busy={busy} text={text} />
    </>
  )
}

export interface Ending {
  readonly onClose: () => void
  /** After it was closed because its work is done. */
  readonly onDone: () => void
}

export function FormDialog({
  title,
  kind = 'danger',
  submit,
  cancel = words.cancel,
  otherWay,
  of,
  onSubmit = () => of.run(),
  onClose,
  children,
}: {
  readonly title: string
  readonly kind?: 'primary' | 'danger'
  readonly submit: string
  readonly cancel?: string
  readonly otherWay?: JSX.Element | false
  readonly of: Pick<Submission, 'busy' | 'untold' | 'run'>
  readonly onSubmit?: () => void
  readonly onClose: () => void
  readonly children: ComponentChildren
}) {
  return (
    <Dialog title={title} onClose={onClose}>
      <Form onSubmit={onSubmit}>
        {children}
        <Submit text={submit} kind={kind} of={of} />
        {otherWay}
        <Button text={cancel} onPress={onClose} />
      </Form>
    </Dialog>
  )
}

interface QuestionProps extends Ending {
  title: string
  kind?: 'primary' | 'danger'
  effect: string
  submit: string
  cancel?: string
  act: () => Promise<unknown>
}

export function Question({ effect, act, onDone, ...dialog }: QuestionProps) {
  const doing = useSubmit(async () => {
    await act()
    dialog.onClose()
    onDone()
  })
  return (
    <FormDialog {...dialog} of={doing}>
      <p>{effect}</p>
    </FormDialog>
  )
}

interface OnceDialogProps {
  title: string
  text: { readonly once: string; readonly stored: string; readonly leave: string }
  onStored: () => void
  children: ComponentChildren
}

/** Shows what is never shown again, so Escape does not close it. */
export function OnceDialog({ title, text, onStored, children }: OnceDialogProps) {
  useLeaveQuestion(true, text.leave)
  return (
    <Dialog title={title}>
      <Notice tone="warn" text={text.once} />
      {children}
      <Button kind="primary" text={text.stored} onPress={onStored} />
    </Dialog>
  )
}

interface DialogProps {
  title: string
  /** Shown at the side of the page in full height, for the details of a list entry. */
  side?: boolean
  onClose?: (() => void) | undefined
  children: ComponentChildren
}

/** A modal dialog; the browser keeps the focus inside and returns it. Without `onClose` the user cannot dismiss it. */
export function Dialog({ title, side = false, onClose, children }: DialogProps) {
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
