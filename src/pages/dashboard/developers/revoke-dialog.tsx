import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { Button } from '../../ui/controls/button.js'
import { Field } from '../../ui/controls/field.js'
import { Dialog } from '../../ui/messages/dialog.js'
import type { ApiKey } from '../answers.js'
import { call } from '../api.js'
import { useSubmit } from '../use-submit.js'

/** Revokes a key after the user typed its prefix, because a site that still uses the key stops working immediately. */
export function RevokeDialog({
  apiKey,
  onClose,
  onRevoked,
}: {
  readonly apiKey: ApiKey
  readonly onClose: () => void
  readonly onRevoked: () => void
}): JSX.Element {
  const [typed, setTyped] = useState('')
  const revoke = useSubmit(async () => {
    await call('DELETE', `/creators/api-keys/${apiKey.id}`)
    onRevoked()
  })
  return (
    <Dialog title={words.revoke.title(apiKey.label ?? apiKey.prefix)} onClose={onClose}>
      <p>{words.revoke.effect}</p>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault()
          if (typed.trim() === apiKey.prefix) revoke.run()
          else revoke.fail('wrong_prefix')
        }}
      >
        <Field label={words.revoke.type(apiKey.prefix)} fault={revoke.fault && words.fault(revoke.fault)}>
          <input
            class="input"
            name="prefix"
            autocomplete="off"
            spellcheck={false}
            value={typed}
            onInput={({ currentTarget }) => {
              revoke.clear()
              setTyped(currentTarget.value)
            }}
          />
        </Field>
        <Button kind="danger" type="submit" busy={revoke.busy}>
          {words.revoke.submit}
        </Button>
        <Button onPress={onClose}>{words.cancel}</Button>
      </form>
    </Dialog>
  )
}
