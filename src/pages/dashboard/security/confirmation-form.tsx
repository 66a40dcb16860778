import type { ComponentChildren, JSX } from 'preact'
import { useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { Button } from '../../ui/controls/button.js'
import { Notice } from '../../ui/messages/notice.js'
import { CodeField } from '../parts/fields/code-field.js'
import { useSession } from '../session.js'
import { knowsPasskeys } from '../sign-in/passkeys.js'
import { useSubmit } from '../use-submit.js'
import { confirmByPasskey, type Factor } from './factors/factor-dialog.js'

/** The mailed code or a second factor, in a request's body. */
export type ConfirmationProof = Factor | { readonly code?: string }
/** Where a typed code comes from: the mail or the app. */
export type CodeWay = 'code' | 'totp'
/** The error codes of what the form has tried last. */
export interface ConfirmationFaults {
  readonly confirm: string | undefined
  readonly passkey: string | undefined
  readonly again: string | undefined
}

/** Asks the owner for the mailed code, a code of the app or a passkey. */
export function ConfirmationForm({
  children,
  confirm: confirmWith,
  mailAgain,
  codeFault,
  notice,
  young,
  onCancel,
}: {
  /** What is confirmed. */
  readonly children: ComponentChildren
  readonly confirm: (proof: ConfirmationProof) => Promise<void>
  /** False: no code had to be mailed. */
  readonly mailAgain: () => Promise<boolean>
  /** The fault of the typed code as an error code of the dashboard. */
  readonly codeFault: (fault: string | undefined, way: CodeWay) => string | undefined
  /** What is shown of the other faults. */
  readonly notice: (faults: ConfirmationFaults, way: CodeWay) => JSX.Element
  /** Which factors are too young for this. */
  readonly young: string
  readonly onCancel?: () => void
}): JSX.Element {
  const { hasPasskey, hasApp } = useFactors()
  const [way, setWay] = useState<CodeWay>('code')
  const [digits, setDigits] = useState('')
  const [mailedAgain, setMailedAgain] = useState(false)
  const confirm = useSubmit(() => confirmWith(way === 'code' ? { code: digits } : { totp: digits }))
  const byPasskey = useSubmit(async () => confirmWith(await confirmByPasskey()))
  const again = useSubmit(async () => {
    if (!(await mailAgain())) return
    setMailedAgain(true)
    setDigits('')
    confirm.clear()
  })
  const fault = codeFault(confirm.fault, way)
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
        fault={fault && words.fault(fault)}
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
      {notice({ confirm: confirm.fault, passkey: byPasskey.fault, again: again.fault }, way)}
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
        {onCancel && (
          <button type="button" class="link" onClick={onCancel}>
            {words.cancel}
          </button>
        )}
      </div>
      {(hasPasskey || hasApp) && <p class="quiet">{young}</p>}
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
