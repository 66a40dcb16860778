import type { JSX } from 'preact'
import { words } from '../../i18n/dashboard.js'
import { FaultNotice } from '../parts/fault-notice.js'
import { CodeField } from '../parts/fields/code-field.js'
import { factorFault } from '../sign-in/factor-step.js'
import { PasswordField } from '../sign-in/password-field.js'
import { type Factors, type OwnerProof, proofWay, proofWays } from './owner-proof.js'

/** Asks for the current password or a second factor. Renders nothing when the account has neither. */
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
  const others = proofWays(security).filter((one) => one !== way)
  const onInput = (text: string): void => onChange({ way, text })
  return (
    <div>
      {way === 'password' && (
        <PasswordField
          label={words.password.current}
          value={proof.text}
          fault={fault && words.fault(fault === 'invalid_credentials' ? 'wrong_password' : fault)}
          onInput={onInput}
        />
      )}
      {way === 'code' && (
        <CodeField
          label={words.factor.code}
          value={proof.text}
          fault={factorFault(fault)}
          focused={false}
          onInput={onInput}
        />
      )}
      {way === 'passkey' && (
        <>
          <p>{words.password.byPasskey}</p>
          <FaultNotice fault={fault === 'invalid_code' ? 'young_passkey' : fault} />
        </>
      )}
      {way !== 'password' && <p class="quiet">{words.password.young}</p>}
      {others.map((other) => (
        <button
          key={other}
          type="button"
          class="link password__other"
          onClick={() => onChange({ way: other, text: '' })}
        >
          {words.password.instead[other]}
        </button>
      ))}
    </div>
  )
}
