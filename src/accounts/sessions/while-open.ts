import type { Knex } from 'knex'
import { DomainError } from '../../kernel/errors.js'
import { query } from '../../platform/database/database.js'
import type { Services } from '../../services.js'
import type { SignedIn } from './session.js'

/**
 * The services for a change that a session asks for: none of its transactions commits once the session has ended. The guard reads
 * the session before the body arrives, and a thief can hold the body back until the owner has ended all sessions. It is checked
 * last: whoever ends sessions locks the account first, so a change that locks it too must have done so before.
 */
export function whileOpen<Needs extends Pick<Services, 'transact'>>(
  services: Needs,
  signedIn: Pick<SignedIn, 'sessionHash'>,
): Needs {
  return {
    ...services,
    transact: (work) =>
      services.transact(async (uow) => {
        const result = await work(uow)
        await assertSessionOpen(uow.trx, signedIn)
        return result
      }),
  } satisfies Needs
}

/** Keeps the session from ending until the transaction does. Throws `unauthorized` when it has ended. */
async function assertSessionOpen(
  trx: Knex.Transaction,
  { sessionHash }: Pick<SignedIn, 'sessionHash'>,
): Promise<void> {
  const open = await query(trx, {
    name: 'sessions.still-open',
    text: 'select 1 from sessions where token_hash = $1 for share',
    values: [sessionHash],
  })
  if (open.length === 0) throw new DomainError('unauthorized')
}
