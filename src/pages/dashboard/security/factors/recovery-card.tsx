import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { words } from '../../../i18n/dashboard.js'
import { Button } from '../../../ui/controls/button.js'
import { Notice } from '../../../ui/messages/notice.js'
import type { Security } from '../../answers.js'
import { call } from '../../api.js'
import { useDrawer } from '../../parts/drawer.js'
import { useSession } from '../../session.js'
import { FactorDialog } from './factor-dialog.js'
import { RecoveryCodesDialog } from './recovery-codes-dialog.js'

/** With so few codes left, new ones are due. */
const few = 3

/** How many recovery codes are left; makes new ones. */
export function RecoveryCard({ security }: { readonly security: Security }): JSX.Element {
  const { refresh } = useSession()
  const drawer = useDrawer()
  const [codes, setCodes] = useState<readonly string[]>()
  const left = security.recoveryCodesLeft
  return (
    <section class="card" aria-labelledby="recovery-title">
      <h2 id="recovery-title">{words.recovery.title}</h2>
      <p class="quiet">{words.recovery.lead}</p>
      {left <= few ? (
        <Notice tone="warn" icon="warn">
          {words.recovery.left(left)}. {words.recovery.few}
        </Notice>
      ) : (
        <p>{words.recovery.left(left)}</p>
      )}
      <Button onPress={() => drawer.show('new-codes')}>{words.recovery.make}</Button>
      {drawer.open === 'new-codes' && (
        <FactorDialog
          title={words.recovery.makeTitle}
          effect={words.recovery.makeEffect}
          hint={words.factor.countsToRenew}
          submit={words.recovery.makeSubmit}
          security={security}
          act={async (body) => {
            const answer = await call<{ recoveryCodes: readonly string[] }>('POST', '/auth/recovery-codes', {
              body,
            })
            setCodes(answer.recoveryCodes)
          }}
          onClose={drawer.close}
          onDone={() => {
            drawer.close()
            refresh()
          }}
        />
      )}
      {codes !== undefined && <RecoveryCodesDialog codes={codes} onStored={() => setCodes(undefined)} />}
    </section>
  )
}
