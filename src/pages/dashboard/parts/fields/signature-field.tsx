import type { JSX } from 'preact'
import { words } from '../../../i18n/dashboard.js'
import { CopyButton } from '../../../ui/controls/copy-button.js'
import { Field } from '../../../ui/controls/field.js'
import { Notice } from '../../../ui/messages/notice.js'

/** A message to sign in a wallet, and the field for its signature. */
export function SignatureField({
  advice,
  message,
  signature,
  onSignature,
}: {
  readonly advice: string
  readonly message: string
  readonly signature: string
  readonly onSignature: (signature: string) => void
}): JSX.Element {
  return (
    <>
      <Notice tone="plain" icon="warn" urgent>
        {advice}
      </Notice>
      <code class="secret">{message}</code>
      <CopyButton value={message} label={words.sol.message} />
      <Field label={words.sol.signature}>
        <input
          class="input"
          required
          autocomplete="off"
          spellcheck={false}
          value={signature}
          onInput={({ currentTarget }) => onSignature(currentTarget.value)}
        />
      </Field>
    </>
  )
}
