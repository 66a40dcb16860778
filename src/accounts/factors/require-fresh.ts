import { DomainError } from '../../kernel/errors.js'
import type { Services } from '../../services.js'
import { assertRecentSession } from '../sessions/auth.js'
import type { SignedIn } from '../sessions/session.js'
import { checkFactor, type PresentedFactor, presentsFactor } from './check-factor.js'
import type { FactorRule } from './factor-rules.js'

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
