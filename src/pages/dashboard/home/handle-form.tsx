import { useState } from 'preact/hooks'
import { TippingError } from '../../../sdk/client/errors.js'
import { words } from '../../i18n/dashboard.js'
import { Form, TextField } from '../../ui/fields.js'
import type { OwnPage } from '../answers.js'
import { call } from '../api.js'
import { Submit } from '../parts/forms.js'
import { useForm } from '../requests.js'

const text = words.handle

interface HandleFormProps {
  handle: string
  hint?: string
  onSaved: (answer: OwnPage) => void
}

/** Chooses the handle, which is the last part of the link. */
export function HandleForm({ handle, hint, onSaved }: HandleFormProps) {
  const [reason, setReason] = useState<string>()
  const save = useForm({ handle }, async (body) => {
    try {
      onSaved(await call<OwnPage>('PATCH', '/creators/page', { body }))
    } catch (error) {
      setReason(error instanceof TippingError ? error.details[0]?.problem : undefined)
      throw error
    }
  })
  const typed = save.values.handle.trim().replace(/^@/, '').toLowerCase()
  const field = save.field('handle', ['invalid_handle'], (code) =>
    reason === undefined ? words.fault(code) : text.refused(typed, reason),
  )
  return (
    <Form onSubmit={save.run}>
      <TextField
        label={text.label}
        hint={hint ?? `${location.host}/@${typed}`}
        name="handle"
        autocapitalize="none"
        spellcheck={false}
        required
        maxLength={31}
        {...field}
      />
      <Submit text={text.save} of={save} />
    </Form>
  )
}

const longest = 30

/** A handle made of a name: `Ada Obi` becomes `adaobi`. */
export function suggestHandle(name: string): string {
  const plain = name.normalize('NFD').toLowerCase()
  return plain.replace(/[^a-z0-9_]/g, '').slice(0, longest)
}
