import type { FormHTMLAttributes, InputHTMLAttributes, JSX } from 'preact'
import { Field } from './field.js'

/** A form that its page sends. */
export function Form({
  onSubmit,
  ...form
}: Omit<FormHTMLAttributes<HTMLFormElement>, 'onSubmit'> & { readonly onSubmit: () => void }): JSX.Element {
  return (
    <form
      class="stack"
      {...form}
      onSubmit={(event) => {
        event.preventDefault()
        onSubmit()
      }}
    />
  )
}

type InputAttribute =
  | 'name'
  | 'autocomplete'
  | 'autocapitalize'
  | 'spellcheck'
  | 'inputMode'
  | 'minLength'
  | 'maxLength'
  | 'placeholder'
  | 'readOnly'
  | 'required'

/** A labelled text field. What is not named here belongs to its input. */
export function TextField({
  label,
  hint,
  fault,
  type = 'text',
  class: kind = '',
  onInput,
  ...input
}: Pick<InputHTMLAttributes<HTMLInputElement>, InputAttribute> & {
  readonly label: string
  readonly hint?: string | undefined
  readonly fault?: string | undefined
  readonly type?: 'text' | 'email' | 'password'
  readonly class?: string
  readonly value: string
  readonly onInput: (text: string) => void
}): JSX.Element {
  return (
    <Field label={label} hint={hint} fault={fault}>
      <input
        autocomplete="off"
        {...input}
        // The types of Preact want one type at a time, because roles depend on it.
        type={type as 'text'}
        class={`input ${kind}`}
        onInput={({ currentTarget }) => onInput(currentTarget.value)}
      />
    </Field>
  )
}
