import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { Form } from '../../ui/fields.js'
import { Button, Notice, TextButton } from '../../ui/kit.js'
import { codeOf } from '../api.js'
import { CodeField } from '../parts/fields.js'
import { Submit } from '../parts/forms.js'
import { FaultNotice } from '../parts/notices.js'
import { useForm, useSubmit } from '../requests.js'
import { useSession } from '../session.js'
import { knowsPasskeys } from '../sign-in/passkeys.js'
import { confirmByPasskey, type Factor, passkeyFault } from './factor-dialog.js'
import { type CodeWay, codeFaults, confirmFault } from './owner-proof.js'

const text = words.confirmation

/** The mailed code or a second factor, in a request's body. */
export type ConfirmationProof = Factor | { readonly code?: string }

/** A request that is done once it has a proof. Without one it mails a code and fails with `step_up_required`. */
export type SteppedUpRequest = (proof: ConfirmationProof) => Promise<void>

/** Sends the request without a proof. True: a code was mailed, and nothing is done yet. */
export async function needsStepUp(request: SteppedUpRequest): Promise<boolean> {
  try {
    await request({})
    return false
  } catch (error) {
    if (codeOf(error) !== 'step_up_required') throw error
    return true
  }
}

/** Asks the owner for the mailed code, a code of the app or a passkey. */
export function StepUp({
  children,
  request,
  mailAgain = () => needsStepUp(request),
  faultText,
  young = text.youngStepUp,
  onCancel,
}: {
  readonly children: ComponentChildren
  readonly request: SteppedUpRequest
  /** False: no code had to be mailed. */
  readonly mailAgain?: () => Promise<boolean>
  readonly faultText?: string | undefined
  readonly young?: string
  readonly onCancel?: () => void
}) {
  const { security } = useSession()
  const hasPasskey = (security?.passkeys ?? 0) > 0 && knowsPasskeys()
  const hasApp = security?.totp === true
  const [way, setWay] = useState<CodeWay>('code')
  const [mailedAgain, setMailedAgain] = useState(false)
  const confirm = useForm({ digits: '' }, ({ digits }) =>
    request(way === 'code' ? { code: digits } : { totp: digits }),
  )
  const byPasskey = useSubmit(async () => request(await confirmByPasskey()))
  const again = useSubmit(async () => {
    if (!(await mailAgain())) return
    setMailedAgain(true)
    confirm.set({ digits: '' })
  })
  const ofMail = again.fault === 'too_many_requests' ? 'too_many_withdrawal_codes' : again.fault
  const field = confirm.field('digits', codeFaults, (code) => words.fault(confirmFault(code, way)))
  const other = passkeyFault(byPasskey.fault) ?? ofMail ?? confirm.untold
  return (
    <Form onSubmit={confirm.run}>
      <Notice tone="plain" icon="mail" title={children} text={mailedAgain ? text.mailedAgain : text.mailed} />
      <CodeField
        key={way}
        label={way === 'code' ? words.code.label : words.factor.code}
        {...field}
        onComplete={confirm.run}
      />
      <Submit text={text.submit} busy={confirm.busy} />
      {hasPasskey && <Button does={byPasskey} text={words.factor.passkey} />}
      {faultText === undefined ? (
        <FaultNotice fault={other} />
      ) : (
        <Notice tone="bad" urgent text={faultText} />
      )}
      <div class="row">
        <TextButton aria-disabled={again.busy} text={words.code.again} onPress={again.run} />
        {hasApp && (
          <TextButton
            text={way === 'code' ? text.app : text.mail}
            onPress={() => {
              setWay(way === 'code' ? 'totp' : 'code')
              confirm.set({ digits: '' })
            }}
          />
        )}
        {onCancel && <TextButton text={words.cancel} onPress={onCancel} />}
      </div>
      {(hasPasskey || hasApp) && <p class="quiet">{young}</p>}
    </Form>
  )
}
