import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { words } from '../../../i18n/dashboard.js'
import { Button } from '../../../ui/controls/button.js'
import { Announcer } from '../../../ui/messages/announcer.js'
import type { Security } from '../../answers.js'
import { call } from '../../api.js'
import { useDrawer } from '../../parts/drawer.js'
import { FaultNotice } from '../../parts/fault-notice.js'
import { useSession } from '../../session.js'
import { useSubmit } from '../../use-submit.js'
import { useProtect } from '../reauthentication.js'
import { type NewSecret, SetUpDialog } from './authenticator-dialog.js'
import { FactorDialog } from './factor-dialog.js'
import { RecoveryCodesDialog } from './recovery-codes-dialog.js'

/** The authenticator app: set up, remove. */
export function AuthenticatorCard({ security }: { readonly security: Security }): JSX.Element {
  const { refresh } = useSession()
  const protect = useProtect()
  const drawer = useDrawer()
  const [secret, setSecret] = useState<NewSecret>()
  const [codes, setCodes] = useState<readonly string[]>()
  const [announcement, setAnnouncement] = useState('')
  const begin = useSubmit(async () => {
    setSecret(await protect((proof) => call<NewSecret>('POST', '/auth/totp', { body: proof })))
    drawer.show('set-up-app')
  })
  return (
    <section class="card" aria-labelledby="app-title">
      <header class="row">
        <h2 id="app-title">{words.app.title}</h2>
        <span class={`status status--${security.totp ? 'good' : 'plain'}`}>
          {security.totp ? words.app.on : words.app.off}
        </span>
      </header>
      <p class="quiet">{words.app.lead}</p>
      <Announcer text={announcement} />
      <FaultNotice fault={begin.fault} />
      {security.totp ? (
        <Button onPress={() => drawer.show('remove-app')}>{words.app.remove}</Button>
      ) : (
        <Button busy={begin.busy} onPress={begin.run}>
          {words.app.setUp}
        </Button>
      )}
      {drawer.open === 'set-up-app' && secret !== undefined && (
        <SetUpDialog
          secret={secret}
          onClose={drawer.close}
          onDone={(made) => {
            drawer.close()
            setSecret(undefined)
            setCodes(made)
            setAnnouncement(words.app.done)
            refresh()
          }}
        />
      )}
      {drawer.open === 'remove-app' && security.totp && (
        <FactorDialog
          title={words.app.removeTitle}
          effect={words.app.removeEffect}
          hint={words.factor.countsToRemove}
          submit={words.app.remove}
          security={security}
          act={(proof) => call('DELETE', '/auth/totp', { body: proof })}
          onClose={drawer.close}
          onDone={() => {
            drawer.close()
            setAnnouncement(words.app.removed)
            refresh()
          }}
        />
      )}
      {codes !== undefined && <RecoveryCodesDialog codes={codes} onStored={() => setCodes(undefined)} />}
    </section>
  )
}
