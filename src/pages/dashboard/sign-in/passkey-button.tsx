import type { JSX } from 'preact'
import { Button } from '../../ui/controls/button.js'
import { call } from '../api.js'
import { FaultNotice } from '../parts/fault-notice.js'
import { useSubmit } from '../use-submit.js'
import { askForPasskey, knowsPasskeys } from './passkeys.js'

/** Signs in with a passkey alone. Renders nothing in a browser without passkeys. */
export function PasskeyButton({
  label,
  email,
  onSignedIn,
}: {
  readonly label: string
  /** The account whose page this is, if there is one. */
  readonly email: string | undefined
  readonly onSignedIn: () => void
}): JSX.Element | null {
  const signIn = useSubmit(async () => {
    const { options } = await call<{ options: PublicKeyCredentialRequestOptionsJSON }>(
      'POST',
      '/auth/passkeys/login/options',
      { body: {} },
    )
    const response = await askForPasskey(options)
    const { user } = await call<{ user: { email: string } }>('POST', '/auth/passkeys/login', {
      body: { response },
    })
    // The person chose a passkey of another account: nothing of this page may go on in that one.
    if (email !== undefined && user.email !== email) location.reload()
    else onSignedIn()
  })
  if (!knowsPasskeys()) return null
  return (
    <>
      <Button busy={signIn.busy} onPress={signIn.run}>
        {label}
      </Button>
      <FaultNotice fault={signIn.fault} />
    </>
  )
}
