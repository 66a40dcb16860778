import type { JSX } from 'preact'
import { words } from '../../i18n/dashboard.js'
import { CodeField } from '../parts/fields/code-field.js'
import { PasswordField } from '../sign-in/password-field.js'
import { type Factors, type OwnerProof, proofWay } from './owner-proof.js'

/** Asks for the current password or a code of the app. Renders nothing when the account has neither. */
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
        <CodeField
          label={words.factor.code}
          value={proof.text}
          fault={fault && words.fault(fault)}
          focused={false}
          onInput={onInput}
        />
      )}
      {security.hasPassword && security.totp && (
        <button
          type="button"
          class="link"
          onClick={() => onChange({ way: way === 'app' ? 'password' : 'app', text: '' })}
        >
          {way === 'app' ? words.password.usePassword : words.password.useApp}
        </button>
      )}
    </div>
  )
}
