import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { TippingError } from '../../../../sdk/client/errors.js'
import { words } from '../../../i18n/dashboard.js'
import { Button } from '../../../ui/controls/button.js'
import type { Security } from '../../answers.js'
import { call } from '../../api.js'
import { useDrawer } from '../../parts/drawer.js'
import { Fact } from '../../parts/fact.js'
import { useSession } from '../../session.js'
import { useSubmit } from '../../use-submit.js'
import { confirmByPasskey } from '../factors/factor-dialog.js'
import { useProtect } from '../reauthentication.js'
import { CloseDialog, wrongEmail } from './close-dialog.js'
import { bodyOf, type ClosingForm, emptyForm, isConfirmed, withoutUsedCodes } from './closing-form.js'

const drawerName = 'close-account'

/** Says what closing the account does, and closes it. The form stays here while another dialog asks who is there. */
export function CloseCard({ security }: { readonly security: Security }): JSX.Element {
  const { me, onClosed } = useSession()
  const protect = useProtect()
  const drawer = useDrawer()
  const [form, setForm] = useState<ClosingForm>(() => emptyForm(security))
  const [money, setMoney] = useState<readonly string[]>([])
  const close = useSubmit(async () => {
    try {
      await protect(
        async () => call('DELETE', '/auth/me', { body: await bodyOf(form, security, confirmByPasskey) }),
        'sign-in',
      )
    } catch (error) {
      if (error instanceof TippingError && error.code === 'account_has_money') {
        setMoney(error.details.map(({ field }) => field))
        setForm(withoutUsedCodes)
      }
      throw error
    }
    onClosed()
  })
  const show = (): void => {
    setForm(emptyForm(security))
    close.clear()
    drawer.show(drawerName)
  }
  return (
    <section class="card" aria-labelledby="closing-title">
      <h2 id="closing-title">{words.closing.title}</h2>
      <p>{words.closing.lead}</p>
      <dl class="facts">
        <Fact name={words.closing.first}>{words.closing.firstMore}</Fact>
        <Fact name={words.closing.deleted}>{words.closing.deletedMore}</Fact>
        <Fact name={words.closing.kept}>{words.closing.keptMore}</Fact>
      </dl>
      <Button onPress={show}>{words.closing.open}</Button>
      {drawer.open === drawerName && (
        <CloseDialog
          security={security}
          form={form}
          money={close.fault === 'account_has_money' ? money : []}
          fault={close.fault}
          busy={close.busy}
          onChange={(next) => {
            setForm(next)
            // What is left in the account stays in sight while the form is changed for it.
            if (close.fault !== 'account_has_money') close.clear()
          }}
          onSubmit={() => {
            if (isConfirmed(form, me.email)) close.run()
            else close.fail(wrongEmail)
          }}
          onClose={drawer.close}
        />
      )}
    </section>
  )
}
