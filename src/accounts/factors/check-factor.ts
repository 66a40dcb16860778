import { DomainError } from '../../kernel/errors.js'
import type { UnitOfWork } from '../../platform/database/transact.js'
import type { Services } from '../../services.js'
import { hasFactor } from '../protection.js'
import { assertRecentSession } from '../sessions/auth.js'
import type { SignedIn } from '../sessions/session.js'
import { type FactorOutcome, type FactorRule, refusalOf } from './factor-rules.js'
import { verifyPasskey } from './verify-passkey.js'
import { verifyCode } from './verify-totp.js'

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

type Needs = Pick<Services, 'config' | 'transact'>

/** For a change of what protects the account: a factor in the request, or a session of the last minutes. */
export async function requireFresh(
  services: Needs,
  signedIn: SignedIn,
  presented: PresentedFactor,
): Promise<void> {
  if (presentsFactor(presented)) await checkFactor(services, signedIn.account.id, presented)
  else assertRecentSession(signedIn)
}

/** For taking a factor away: a factor in the request, however young the session is. It may be a stolen one. */
export async function requireFactor(
  services: Needs,
  userId: string,
  presented: PresentedFactor,
  rule: FactorRule,
): Promise<void> {
  if (!presentsFactor(presented)) throw new DomainError('second_factor_required')
  await checkFactor(services, userId, presented, rule)
}
