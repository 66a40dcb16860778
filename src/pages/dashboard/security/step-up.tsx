import type { ComponentChildren, JSX } from 'preact'
import { words } from '../../i18n/dashboard.js'
import { Notice } from '../../ui/messages/notice.js'
import { codeOf } from '../api.js'
import { FaultNotice } from '../parts/fault-notice.js'
import { type CodeWay, ConfirmationForm, type ConfirmationProof } from './confirmation-form.js'

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
  return (
    <ConfirmationForm
      confirm={request}
      mailAgain={() => needsStepUp(request)}
      codeFault={proofFault}
      notice={({ confirm, passkey, again }, way) =>
        faultText === undefined ? (
          <FaultNotice fault={otherFault(passkey ?? again, proofFault(confirm, way) ? undefined : confirm)} />
        ) : (
          <Notice tone="bad" icon="warn" urgent>
            {faultText}
          </Notice>
        )
      }
      young={words.confirmation.youngStepUp}
      onCancel={onCancel}
    >
      {children}
    </ConfirmationForm>
  )
}

/** The fault of the proof itself, as an error code of the dashboard. */
function proofFault(code: string | undefined, way: CodeWay): string | undefined {
  if (code === 'invalid_code') return way === 'code' ? 'withdrawal_code' : 'invalid_code'
  return code === 'account_locked' ? 'factor_locked' : undefined
}

/** The fault of a passkey or of a new code, or the request's own, as an error code of the dashboard. */
function otherFault(other: string | undefined, own: string | undefined): string | undefined {
  if (other === 'invalid_code') return 'young_passkey'
  return other === 'too_many_requests' ? 'too_many_withdrawal_codes' : (other ?? own)
}
