import { DomainError, inputError, refusedFor } from '../../kernel/errors.js'
import { cautionHours } from '../protection.js'

/** Which factors count for what is asked. Without a rule every factor in force does. */
export interface FactorRule {
  /** For money. Recovery codes do not count: nothing says how old they are. */
  readonly olderThanHours?: number
  /**
   * For removing the factor of this time: a factor counts that is not younger, or older than 72 hours. So nobody adds a factor
   * with a stolen session and removes the owner's with it. Recovery codes count: a factor that does not count here cannot make
   * them.
   */
  readonly notYoungerThan?: Date
}

/** How old a factor in force is. */
export interface FactorAge {
  readonly since: Date
  readonly ageHours: number
}

export function countsFor({ since, ageHours }: FactorAge, rule: FactorRule): boolean {
  const { olderThanHours = 0, notYoungerThan } = rule
  if (ageHours < olderThanHours) return false
  return notYoungerThan === undefined || since <= notYoungerThan || ageHours >= cautionHours
}

type FactorField = 'totp' | 'passkey' | 'code'

/** Why a factor is refused. A transaction returns it, and its caller throws `refusalOf` after the commit: a count must stay. */
export type FactorRefusal =
  /** The account has a factor, and none was presented. */
  | { readonly kind: 'absent' }
  | { readonly kind: 'wrong'; readonly field: FactorField }
  /** In force, but the rule does not let it count. */
  | { readonly kind: 'young'; readonly field: FactorField }
  | { readonly kind: 'locked'; readonly seconds: number }

export type FactorOutcome = { readonly kind: 'right' } | FactorRefusal

const wrongProblems: Readonly<Record<FactorField, string>> = {
  totp: 'is not the current code of the authenticator app, or was used, nor an unused recovery code',
  code: 'is not the current code of the authenticator app, or the secret is older than 15 minutes: start again',
  passkey:
    'is not the answer of a passkey of this account to options of the last minutes, or was sent before',
}

function youngProblem({ notYoungerThan }: FactorRule): string {
  return notYoungerThan === undefined
    ? `comes from a factor younger than ${cautionHours} hours, or is a recovery code. Neither counts here: use an older factor, or the password or the mailed code where the request takes one`
    : `comes from a factor that is younger than ${cautionHours} hours, and younger than the one you want to change: use that one, an older factor or a recovery code`
}

/** The error of a refusal by this rule. */
export function refusalOf(refusal: FactorRefusal, rule: FactorRule = {}): DomainError {
  switch (refusal.kind) {
    case 'absent':
      return new DomainError('second_factor_required')
    case 'wrong':
      return inputError('invalid_code', refusal.field, wrongProblems[refusal.field])
    case 'young':
      return inputError('invalid_code', refusal.field, youngProblem(rule))
    case 'locked':
      return refusedFor('account_locked', refusal.seconds)
  }
}
