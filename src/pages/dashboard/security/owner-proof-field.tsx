import type { JSX } from 'preact'
import { words } from '../../i18n/dashboard.js'
import { FactorField } from '../parts/fields/factor-field.js'
import { factorFault } from '../sign-in/factor-step.js'
import { PasswordField } from '../sign-in/password-field.js'
import { type Factors, hasFactor, type OwnerProof, proofWay } from './owner-proof.js'

/** Asks for the current password or a second factor's code. Renders nothing when the account has neither. */
export function OwnerProofField({
  security,
  proof,
  fault,
  onChange,
}: {
  readonly security: Factors
  readonly proof: OwnerProof
  /** An error code. */
  readonly fault: string | undefined
  readonly onChange: (proof: OwnerProof) => void
}): JSX.Element | null {
  const way = proofWay(proof, security)
  if (way === undefined) return null
  const onInput = (text: string): void => onChange({ way, text })
  return (
    <div>
      {way === 'password' ? (
        <PasswordField
          label={words.password.current}
          value={proof.text}
          fault={fault && words.fault(fault === 'invalid_credentials' ? 'wrong_password' : fault)}
          onInput={onInput}
        />
      ) : (
        <FactorField app={security.totp} value={proof.text} fault={factorFault(fault)} onInput={onInput} />
      )}
      {security.hasPassword && hasFactor(security) && (
        <button
          type="button"
          class="link password__other"
          onClick={() => onChange({ way: way === 'code' ? 'password' : 'code', text: '' })}
        >
          {way === 'code' ? words.password.usePassword : words.password.useCode}
        </button>
      )}
    </div>
  )
}
