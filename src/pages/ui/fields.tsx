import {
  cloneElement,
  type FormHTMLAttributes,
  type HTMLAttributes,
  type InputHTMLAttributes,
  type JSX,
  type VNode,
} from 'preact'
import { useState } from 'preact/hooks'

/** Preact's useId repeats an id when a sibling is added later, so ids are counted here. */
let last = 0

interface FieldProps {
  label: string
  hint?: string | undefined
  fault?: string | undefined
  children: VNode<HTMLAttributes>
}

/** A labelled input with its hint. A fault replaces the hint in its place, so the layout does not move. */
export function Field({ label, hint, fault, children }: FieldProps) {
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

type FormProps = Omit<FormHTMLAttributes<HTMLFormElement>, 'onSubmit'> & { onSubmit: () => void }

export function Form({ onSubmit, ...form }: FormProps) {
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
  | 'disabled'
  | 'required'
  | 'onBlur'

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
}) {
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

interface Choices<Key extends string | number> {
  readonly choices: readonly Key[]
  readonly texts: Readonly<Record<Key, string>>
  readonly chosen: Key
  readonly onChoose: (choice: Key) => void
}

/** A select element with its label. `bare`: only screen readers read the label. */
export function Select<Key extends string>({
  label,
  bare = false,
  choices,
  texts,
  chosen,
  onChoose,
}: Choices<Key> & { readonly label: string; readonly bare?: boolean }) {
  const select = (
    <select
      class="input"
      {...(bare && { 'aria-label': label })}
      value={chosen}
      onChange={({ currentTarget }) => onChoose(choices[currentTarget.selectedIndex] ?? chosen)}
    >
      {choices.map((choice) => (
        <option key={choice} value={choice}>
          {texts[choice]}
        </option>
      ))}
    </select>
  )
  return bare ? select : <Field label={label}>{select}</Field>
}

/** A group of radio buttons. `stacked`: for long texts, each choice has a line of its own. `named`: the legend is seen. */
export function RadioGroup<Key extends string | number>({
  name,
  legend,
  named = false,
  choices,
  texts,
  chosen,
  stacked = false,
  onChoose,
}: Omit<Choices<Key>, 'chosen'> & {
  readonly name: string
  readonly legend: string
  readonly named?: boolean
  readonly chosen: Key | undefined
  readonly stacked?: boolean
}) {
  return (
    <fieldset class={`choices ${stacked ? 'choices--stacked' : ''}`}>
      <legend class={named ? 'field__label' : 'visually-hidden'}>{legend}</legend>
      {choices.map((choice) => (
        <label key={choice} class="choices__choice">
          <input type="radio" name={name} checked={choice === chosen} onChange={() => onChoose(choice)} />
          <span>{texts[choice]}</span>
        </label>
      ))}
    </fieldset>
  )
}

type CheckboxProps = { label: JSX.Element | string; value: boolean; onChange: (value: boolean) => void }

export function Checkbox({ label, value, onChange }: CheckboxProps) {
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
