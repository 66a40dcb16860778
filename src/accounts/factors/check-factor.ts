import type { UnitOfWork } from '../../platform/database/transact.js'
import type { Services } from '../../services.js'
import { hasFactor } from '../protection.js'
import { type FactorOutcome, type FactorRule, refusalOf } from './factor-rules.js'
import { verifyPasskey } from './passkeys/verify-passkey.js'
import { verifyCode } from './totp/verify-code.js'

/** What a request presents as a second factor. */
export interface PresentedFactor {
  /** A code of the authenticator app, or a recovery code. */
  readonly totp?: string | undefined
  /** The answer of a passkey to a challenge made for this. */
  readonly passkey?: unknown
}

/** Whether a request presents a factor at all. */
export function presentsFactor({ totp, passkey }: PresentedFactor): boolean {
  return totp !== undefined || passkey !== undefined
}

/**
 * Checks a second factor, in transactions of its own: a wrong one is counted even if the caller's work fails. Throws
 * `invalid_code` for a wrong one or one that the rule does not let count, and `account_locked` after too many.
 */
export async function checkFactor(
  services: Pick<Services, 'config' | 'transact'>,
  userId: string,
  { totp, passkey }: PresentedFactor,
  rule: FactorRule = {},
): Promise<void> {
  const outcome = await verifyFactor(services, userId, { totp, passkey }, rule)
  if (outcome.kind !== 'right') throw refusalOf(outcome, rule)
}

async function verifyFactor(
  services: Pick<Services, 'config' | 'transact'>,
  userId: string,
  { totp, passkey }: PresentedFactor,
  rule: FactorRule,
): Promise<FactorOutcome> {
  const { config, transact } = services
  if (totp !== undefined) return transact(({ trx }) => verifyCode(trx, config, userId, { totp, rule }))
  return passkey === undefined ? { kind: 'absent' } : verifyPasskey(services, userId, passkey, rule)
}

/**
 * The second factor of a sign-in, in the transaction that opens the session, so that a code is used only if the session opens.
 * Returned, not thrown: a wrong code must stay counted.
 */
export async function verifySignIn(
  { trx }: UnitOfWork,
  config: Services['config'],
  userId: string,
  totp: string | undefined,
): Promise<FactorOutcome> {
  if (!(await hasFactor(trx, userId))) return { kind: 'right' }
  return totp === undefined ? { kind: 'absent' } : verifyCode(trx, config, userId, { totp })
}
