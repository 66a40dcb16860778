import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { words } from '../../../i18n/dashboard.js'
import { Button } from '../../../ui/controls/button.js'
import { Dialog } from '../../../ui/messages/dialog.js'
import type { Security } from '../../answers.js'
import { call } from '../../api.js'
import { FaultNotice } from '../../parts/fault-notice.js'
import { FactorField } from '../../parts/fields/factor-field.js'
import { factorFault } from '../../sign-in/factor-step.js'
import { askForPasskey, knowsPasskeys } from '../../sign-in/passkeys.js'
import { useSubmit } from '../../use-submit.js'

/** A second factor in a request's body. */
export type Factor = { readonly totp: string } | { readonly passkey: AuthenticationResponseJSON }

/** Asks for a passkey of the account that is signed in. */
export async function confirmByPasskey(): Promise<Factor> {
  const { options } = await call<{ options: PublicKeyCredentialRequestOptionsJSON }>(
    'POST',
    '/auth/passkeys/confirm/options',
    { body: {} },
  )
  return { passkey: await askForPasskey(options) }
}

/** Asks for a second factor before something is done. */
export function FactorDialog({
  title,
  effect,
  hint,
  submit,
  security: { totp, passkeys },
  act,
  onClose,
  onDone,
}: {
  readonly title: string
  readonly effect: string
  /** Which factors count. */
  readonly hint: string
  readonly submit: string
  /** The factors that count here. */
  readonly security: Pick<Security, 'totp' | 'passkeys'>
  readonly act: (factor: Factor) => Promise<unknown>
  readonly onClose: () => void
  readonly onDone: () => void
}): JSX.Element {
  const [code, setCode] = useState('')
  const byCode = useSubmit(async () => {
    await act({ totp: code.trim() })
    onDone()
  })
  const byPasskey = useSubmit(async () => {
    await act(await confirmByPasskey())
    onDone()
  })
  return (
    <Dialog title={title} onClose={onClose}>
      <p>{effect}</p>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault()
          byCode.run()
        }}
      >
        <FactorField
          app={totp}
          hint={hint}
          value={code}
          fault={factorFault(byCode.fault)}
          onInput={(text) => {
            setCode(text)
            byCode.clear()
          }}
        />
        <Button kind="danger" type="submit" busy={byCode.busy}>
          {submit}
        </Button>
        {passkeys > 0 && knowsPasskeys() && (
          <Button busy={byPasskey.busy} onPress={byPasskey.run}>
            {words.factor.passkey}
          </Button>
        )}
        <FaultNotice fault={byPasskey.fault === 'invalid_code' ? 'young_passkey' : byPasskey.fault} />
        <Button onPress={onClose}>{words.cancel}</Button>
      </form>
    </Dialog>
  )
}
