import type { Knex } from 'knex'
import { DomainError } from '../../kernel/errors.js'
import { hashSecret } from '../../kernel/ids.js'
import { query } from '../../platform/database/database.js'
import type { Services } from '../../services.js'
import { useLink } from '../secrets/secrets.js'
import { freezeAccount } from './freeze-account.js'

const reason = 'The owner pressed "This was not me"'

/**
 * Freezes the account for the token of a mailed link, without signing in. Throws `invalid_link`. A used link of an account
 * that is frozen is answered as the first time: a frightened owner presses twice.
 */
export async function freezeByLink(
  { config, transact, log }: Pick<Services, 'config' | 'transact' | 'log'>,
  token: string,
): Promise<void> {
  const frozenNow = await transact(async (uow) => {
    const userId = await useNotMeLink(uow.trx, token)
    if (userId === undefined) return undefined
    const isNews = await freezeAccount(uow, { userId, publicUrl: config.http.publicUrl, reason })
    return isNews ? userId : undefined
  })
  if (frozenNow !== undefined) log.warn({ userId: frozenNow }, 'an owner has frozen the account')
}

/** The account to freeze; undefined when this link has frozen it already. */
async function useNotMeLink(trx: Knex.Transaction, token: string): Promise<string | undefined> {
  try {
    return (await useLink(trx, 'not_me', token)).userId
  } catch (error) {
    if (error instanceof DomainError && (await hasFrozen(trx, token))) return undefined
    throw error
  }
}

async function hasFrozen(trx: Knex.Transaction, token: string): Promise<boolean> {
  const rows = await query(trx, {
    name: 'links.has-frozen',
    text: /* sql */ `
      select 1 from one_time_secrets l join users u on u.id = l.user_id
       where l.hash = $1 and l.purpose = 'not_me' and l.used_at is not null and u.frozen_at is not null`,
    values: [hashSecret(token)],
  })
  return rows.length > 0
}
