import type { Knex } from 'knex'
import type { Account } from '../../accounts/account.js'
import { changeUser } from '../../accounts/change-user.js'
import { DomainError } from '../../kernel/errors.js'
import { query, write } from '../../platform/database/database.js'
import type { Services } from '../../services.js'

export const tipMailChoices = ['off', 'each', 'daily'] as const
export type TipMailChoice = (typeof tipMailChoices)[number]

/**
 * Chooses the mails about tips. Tips confirmed before the first choice are not mailed; a change between `each` and `daily`
 * skips none. Who has chosen nothing has `each`. Throws `email_not_verified`: nobody has tips mailed to an address of somebody else.
 */
export async function chooseTipMails(
  { transact }: Pick<Services, 'transact'>,
  { id, emailVerifiedAt }: Pick<Account, 'id' | 'emailVerifiedAt'>,
  choice: TipMailChoice,
): Promise<void> {
  if (choice !== 'off' && emailVerifiedAt === null) throw new DomainError('email_not_verified')
  await transact(async ({ trx }) => {
    // Its row lock puts two choices of one creator in an order.
    await changeUser(trx, id, { tipMails: choice })
    if (choice === 'off') return stopTipMails(trx, id)
    // The stamps of a recipient may be ahead of the clock by some milliseconds (docs/decisions/0025).
    await write(trx, {
      name: 'tip-mails.choose',
      text: /* sql */ `
        insert into tip_mails (party_id, choice, told_until)
        select p.id, $2, greatest(clock_timestamp(), c.last_at)
          from parties p left join creator_cursors c on c.party_id = p.id where p.user_id = $1
        on conflict (party_id) do update set choice = excluded.choice`,
      values: [id, choice],
    })
  })
}

/** Turns the mails off with the token of one of them, a UUID. False: it turns nothing off any more. */
export function stopByToken({ transact }: Pick<Services, 'transact'>, token: string): Promise<boolean> {
  return transact(async ({ trx }) => {
    const [row] = await query<{ userId: string }>(trx, {
      name: 'tip-mails.of-token',
      text: /* sql */ `
        select p.user_id as "userId" from tip_mails m join parties p on p.id = m.party_id where m.stop_token = $1::uuid`,
      values: [token],
    })
    if (row === undefined) return false
    await changeUser(trx, row.userId, { tipMails: 'off' })
    await stopTipMails(trx, row.userId)
    return true
  })
}

export async function stopTipMails(trx: Knex.Transaction, userId: string): Promise<void> {
  await write(trx, {
    name: 'tip-mails.stop',
    text: 'delete from tip_mails where party_id = (select id from parties where user_id = $1)',
    values: [userId],
  })
}
