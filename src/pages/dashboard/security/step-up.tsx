import type { ComponentChildren, JSX } from 'preact'
import { useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { Button } from '../../ui/controls/button.js'
import { Notice } from '../../ui/messages/notice.js'
import { codeOf } from '../api.js'
import { FaultNotice } from '../parts/fault-notice.js'
import { CodeField } from '../parts/fields/code-field.js'
import { useSession } from '../session.js'
import { knowsPasskeys } from '../sign-in/passkeys.js'
import { useSubmit } from '../use-submit.js'
import { confirmByPasskey, type Factor } from './factors/factor-dialog.js'

/** The mailed code or a second factor, in a request's body. */
export type StepUpProof = Factor | { readonly code?: string }
/** A request that is done once it has a proof. Without one it mails a code and fails with `step_up_required`. */
export type SteppedUpRequest = (proof: StepUpProof) => Promise<void>

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

/** Asks for what a request needs besides the session: the mailed code, a code of the app or a passkey. */
export function StepUp({
  children,
  request,
  faultText,
  onCancel,
}: {
  /** What is confirmed. */
  readonly children: ComponentChildren
  readonly request: SteppedUpRequest
  /** The text of a refusal that has nothing to do with the proof. */
  readonly faultText?: string | undefined
  readonly onCancel: () => void
}): JSX.Element {
  const { hasPasskey, hasApp } = useFactors()
  const [way, setWay] = useState<'code' | 'totp'>('code')
  const [digits, setDigits] = useState('')
  const [mailedAgain, setMailedAgain] = useState(false)
  const confirm = useSubmit(() => request(way === 'code' ? { code: digits } : { totp: digits }))
  const byPasskey = useSubmit(async () => request(await confirmByPasskey()))
  const again = useSubmit(async () => {
    if (!(await needsStepUp(request))) return
    setMailedAgain(true)
    setDigits('')
    confirm.clear()
  })
  const codeFault = proofFault(confirm.fault, way)
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault()
        confirm.run()
      }}
    >
      <Notice tone="plain" icon="mail">
        <strong>{children}</strong>
        <p>{mailedAgain ? words.confirmation.mailedAgain : words.confirmation.mailed}</p>
      </Notice>
      <CodeField
        key={way}
        label={way === 'code' ? words.confirmation.code : words.factor.code}
        value={digits}
        fault={codeFault && words.fault(codeFault)}
        onInput={(text) => {
          setDigits(text)
          confirm.clear()
        }}
        onComplete={confirm.run}
      />
      <Button kind="primary" type="submit" busy={confirm.busy}>
        {words.confirmation.submit}
      </Button>
      {hasPasskey && (
        <Button busy={byPasskey.busy} onPress={byPasskey.run}>
          {words.confirmation.passkey}
        </Button>
      )}
      {faultText === undefined ? (
        <FaultNotice
          fault={otherFault(byPasskey.fault ?? again.fault, codeFault ? undefined : confirm.fault)}
        />
      ) : (
        <Notice tone="bad" icon="warn" urgent>
          {faultText}
        </Notice>
      )}
      <div class="row">
        <button type="button" class="link" aria-disabled={again.busy} onClick={again.run}>
          {words.confirmation.again}
        </button>
        {hasApp && (
          <button
            type="button"
            class="link"
            onClick={() => {
              setWay(way === 'code' ? 'totp' : 'code')
              setDigits('')
              confirm.clear()
            }}
          >
            {way === 'code' ? words.confirmation.app : words.confirmation.mail}
          </button>
        )}
        <button type="button" class="link" onClick={onCancel}>
          {words.cancel}
        </button>
      </div>
      {(hasPasskey || hasApp) && <p class="quiet">{words.confirmation.youngStepUp}</p>}
    </form>
  )
}

/** The factors that can be asked for here. */
function useFactors(): { readonly hasPasskey: boolean; readonly hasApp: boolean } {
  const { security } = useSession()
  return {
    hasPasskey: (security?.passkeys ?? 0) > 0 && knowsPasskeys(),
    hasApp: security?.totp === true,
  }
}

/** The fault of the proof itself, as an error code of the dashboard. */
function proofFault(code: string | undefined, way: 'code' | 'totp'): string | undefined {
  if (code === 'invalid_code') return way === 'code' ? 'withdrawal_code' : 'invalid_code'
  return code === 'account_locked' ? 'factor_locked' : undefined
}

/** The fault of a passkey or of a new code, or the request's own, as an error code of the dashboard. */
function otherFault(other: string | undefined, own: string | undefined): string | undefined {
  if (other === 'invalid_code') return 'young_passkey'
  return other === 'too_many_requests' ? 'too_many_withdrawal_codes' : (other ?? own)
}
