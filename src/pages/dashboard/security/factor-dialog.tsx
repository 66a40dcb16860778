import { words } from '../../i18n/dashboard.js'
import { Button, TextButton } from '../../ui/kit.js'
import type { Security } from '../answers.js'
import { CodeField, FactorField, factorFault } from '../parts/fields.js'
import { type Ending, FormDialog } from '../parts/forms.js'
import { FaultNotice } from '../parts/notices.js'
import { useForm, useSubmit } from '../requests.js'
import { askForPasskeyBy } from '../sign-in/factor-step.js'
import { knowsPasskeys } from '../sign-in/passkeys.js'
import { PasswordField } from '../sign-in/password-field.js'
import { type Factors, type OwnerProof, proofWay, proofWays } from './owner-proof.js'

export type Factor = { readonly totp: string } | { readonly passkey: AuthenticationResponseJSON }

export async function confirmByPasskey(): Promise<Factor> {
  return { passkey: await askForPasskeyBy('/auth/passkeys/confirm/options') }
}

/** A passkey that is refused as a code is too young. */
export function passkeyFault(fault: string | undefined): string | undefined {
  return fault === 'invalid_code' ? 'young_passkey' : fault
}

export function FactorDialog({
  effect,
  hint,
  security: { totp, passkeys },
  act,
  onDone,
  ...dialog
}: Ending & {
  readonly title: string
  readonly effect: string
  readonly hint: string
  readonly submit: string
  readonly security: Pick<Security, 'totp' | 'passkeys'>
  readonly act: (factor: Factor) => Promise<unknown>
}) {
  const actWith = async (factor: Factor): Promise<void> => {
    await act(factor)
    dialog.onClose()
    onDone()
  }
  const byCode = useForm({ code: '' }, ({ code }) => actWith({ totp: code.trim() }))
  const byPasskey = useSubmit(async () => actWith(await confirmByPasskey()))
  const passkeyButton = <Button does={byPasskey} text={words.factor.passkey} />
  return (
    <FormDialog
      {...dialog}
      of={{ ...byCode, untold: passkeyFault(byPasskey.fault) }}
      otherWay={passkeys > 0 && knowsPasskeys() && passkeyButton}
    >
      <p>{effect}</p>
      <FactorField app={totp} hint={hint} {...byCode.field('code', 'all', factorFault)} />
    </FormDialog>
  )
}

interface OwnerProofFieldProps {
  security: Factors
  proof: OwnerProof
  fault: string | undefined
  onChange: (proof: OwnerProof) => void
}

/** Asks for the current password or a second factor. Renders nothing when the account has neither. */
export function OwnerProofField({ security, proof, fault, onChange }: OwnerProofFieldProps) {
  const way = proofWay(proof, security)
  if (way === undefined) return null
  const others = proofWays(security).filter((one) => one !== way)
  const field = { value: proof.text, onInput: (text: string) => onChange({ way, text }) }
  return (
    <div>
      {way === 'password' && (
        <PasswordField
          label={words.password.current}
          fault={fault && words.fault(fault === 'invalid_credentials' ? 'wrong_password' : fault)}
          {...field}
        />
      )}
      {way === 'code' && (
        <CodeField label={words.factor.code} fault={fault && factorFault(fault)} focused={false} {...field} />
      )}
      {way === 'passkey' && (
        <>
          <p>{words.password.byPasskey}</p>
          <FaultNotice fault={passkeyFault(fault)} />
        </>
      )}
      {way !== 'password' && <p class="quiet">{words.password.young}</p>}
      {others.map((other) => (
        <TextButton
          key={other}
          text={words.password.instead[other]}
          onPress={() => onChange({ way: other, text: '' })}
        />
      ))}
    </div>
  )
}
