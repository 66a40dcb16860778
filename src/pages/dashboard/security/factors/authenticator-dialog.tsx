import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { words } from '../../../i18n/dashboard.js'
import { Button } from '../../../ui/controls/button.js'
import { CopyButton } from '../../../ui/controls/copy-button.js'
import { Dialog } from '../../../ui/messages/dialog.js'
import { Qr } from '../../../ui/messages/qr.js'
import { call } from '../../api.js'
import { CodeField } from '../../parts/fields/code-field.js'
import { factorFault } from '../../sign-in/factor-step.js'
import { useSubmit } from '../../use-submit.js'

/** A secret for the app, in force once a first code of it was entered. */
export interface NewSecret {
  readonly secret: string
  readonly uri: string
}

/** Shows the secret as a QR code and as text, and takes the first code. */
export function SetUpDialog({
  secret: { secret, uri },
  onClose,
  onDone,
}: {
  readonly secret: NewSecret
  readonly onClose: () => void
  /** There are recovery codes if this is the first second factor. */
  readonly onDone: (recoveryCodes: readonly string[] | undefined) => void
}): JSX.Element {
  const [code, setCode] = useState('')
  const confirm = useSubmit(async () => {
    const body = { code }
    const answer = await call<{ recoveryCodes?: readonly string[] }>('POST', '/auth/totp/confirm', { body })
    onDone(answer.recoveryCodes)
  })
  return (
    <Dialog title={words.app.setUpTitle} onClose={onClose}>
      <p>{words.app.scan}</p>
      <Qr text={uri} label={words.app.qr} />
      <p class="quiet">{words.app.byHand}</p>
      <code class="secret">{groupsOfFour(secret)}</code>
      <CopyButton value={secret} label={words.app.key} />
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault()
          confirm.run()
        }}
      >
        <CodeField
          label={words.app.code}
          value={code}
          fault={factorFault(confirm.fault)}
          focused={false}
          onInput={setCode}
          onComplete={confirm.run}
        />
        <Button kind="primary" type="submit" busy={confirm.busy}>
          {words.app.confirm}
        </Button>
        <Button onPress={onClose}>{words.cancel}</Button>
      </form>
    </Dialog>
  )
}

/** Easier to type. Apps ignore the blanks. */
function groupsOfFour(secret: string): string {
  return secret.replace(/(.{4})(?=.)/g, '$1 ')
}
