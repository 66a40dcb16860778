import type { z } from 'zod'
import type { Caller } from '../../http/security/caller.js'
import { DomainError } from '../../kernel/errors.js'
import type { Services } from '../../services.js'
import type { passkeyLoginInput } from '../factors/passkeys/passkey-schemas.js'
import { usePasskey, verifyLogin } from '../factors/passkeys/verify-passkey.js'
import { User } from '../models.js'
import { type AccountSession, openSession } from '../sessions/session.js'

/**
 * Opens a session with a passkey alone: it is held by the device, and the device has verified its user. The session that the caller
 * presents ends. Throws `invalid_passkey`.
 */
export async function logInWithPasskey(
  services: Pick<Services, 'config' | 'transact'>,
  { response }: z.output<typeof passkeyLoginInput>,
  caller: Caller,
): Promise<AccountSession> {
  const verified = await verifyLogin(services, response)
  if (verified === undefined) throw new DomainError('invalid_passkey')
  return services.transact(async (uow) => {
    if (!(await usePasskey(uow.trx, verified))) throw new DomainError('invalid_passkey')
    const account = await User.withWallet(uow.trx).findOne({ 'users.id': verified.userId })
    if (account === undefined) throw new Error('A passkey has no account')
    return { account, session: await openSession(uow, services.config, account, caller) }
  })
}
