import type { Knex } from 'knex'
import { DomainError } from '../../../src/kernel/errors.js'
import { displayText } from '../../../src/kernel/money.js'
import { query } from '../../../src/platform/database/database.js'
import { closeAccount } from '../../../src/privacy/close-account.js'
import { defineCommand, defineOptions, finalOptions, type Outcome } from '../support/command.js'
import { RefusedError } from '../support/order.js'

import { findUser, withServices } from '../support/services.js'

const options = defineOptions(finalOptions, {
  '--user <id|e-mail>': 'the account',
  '--confirm <user id>': 'the user id once more',
  '--reason <text>': 'how you know the owner, for the audit log; required with --apply',
})

/** Closes an account whose owner asks for it by mail. Lists the closed accounts that hold money without --user. */
const usage = `npm run ops -- accounts close
npm run ops -- accounts close --user <id|e-mail> [--apply --confirm <user id> --reason <text>]

Without --user it lists the closed accounts to which a tip came later. With --user and --apply the account is closed as by
its owner: who it was is deleted, ledger, tips and withdrawals stay, the owner gets a mail. It is refused while money is
there. Tokens besides USDC stay in the wallet: ask the owner about them first. It cannot be taken back. First make sure that
you talk with the owner.`

const mostListed = 1000

function refuse(error: unknown): never {
  if (!(error instanceof DomainError)) throw error
  const problems = error.details.map(({ field, problem }) => `; ${field}: ${problem}`)
  throw new RefusedError(`${error.message}${problems.join('')}`, { details: error.details })
}

async function listClosed(db: Knex): Promise<Outcome> {
  const rows = await query<{ id: string; closedAt: Date; micro: bigint }>(db, {
    name: 'ops.closed-accounts',
    text: /* sql */ `
      select u.id, u.closed_at as "closedAt", sum(a.balance)::bigint as micro
      from users u join ledger_accounts a on a.user_id = u.id and a.currency = 'USDC'
      where u.closed_at is not null and a.balance > 0 group by u.id order by u.closed_at limit $1`,
    values: [mostListed],
  })
  const lines = rows.map(
    ({ id, closedAt, micro }) => `${id}  closed ${closedAt.toISOString()}  USDC ${displayText(micro, 6)}`,
  )
  return {
    text: lines.length === 0 ? 'no closed account holds money' : lines.join('\n'),
    json: {
      accounts: rows.map(({ id, closedAt, micro }) => ({ id, closedAt, usdc: displayText(micro, 6) })),
    },
  }
}

export const command = await defineCommand(import.meta, {
  usage,
  amounts: 'USDC',
  options,
  run: (values, order) =>
    withServices('ops close-account', async ({ db, transact, config }) => {
      if (values.user === undefined) return listClosed(db)
      const { id, email, closedAt } = await findUser(db, values.user)
      const json = { userId: id, closed: closedAt !== null }
      if (closedAt !== null)
        return { text: `${id} is closed: nothing to do`, json: { ...json, applied: false } }
      order.confirmed('close-account', id)
      if (order.apply)
        await transact(async (uow) => {
          await closeAccount(uow, config.http.publicUrl, id).catch(refuse)
          await order.audit(uow.trx, 'close-account', `user:${id}`)
        })
      return {
        text: order.tell(`the account of ${email} (${id})`, 'closed'),
        json: { ...json, applied: order.apply },
      }
    }),
})
