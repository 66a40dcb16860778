import type { Knex } from 'knex'
import { unfreezeAccount } from '../../../src/accounts/freeze-account.js'
import { User } from '../../../src/accounts/models.js'
import { youngWhenFrozen } from '../../../src/accounts/protection.js'
import { revokeYoungKeys } from '../../../src/creators/api-keys.js'
import { nairaText } from '../../../src/kernel/money.js'
import { sqlList } from '../../../src/kernel/state-machine.js'
import { maskAccount } from '../../../src/kernel/text.js'
import { heldStates, type SendState, sendableStates } from '../../../src/outgoing/lifecycle.js'
import { query } from '../../../src/platform/database/database.js'
import { disableYoung } from '../../../src/webhooks/watch-endpoints.js'
import { defineCommand, defineOptions, type Outcome, reasonedOptions } from '../support/command.js'
import { describeChange, RefusedError } from '../support/order.js'
import { findUser, withServices } from '../support/services.js'

const options = defineOptions(reasonedOptions, {
  '--user <id|e-mail>': 'the account',
  '--void-password':
    'a thief may know the password: it is void, and the owner is mailed a link for a new one',
  '--send-waiting': 'although withdrawals or refunds wait: the owner asked for each that is listed',
  '--reason <text>': 'how you know the owner, for the audit log; required with --apply',
})

/** Unfreezes an account once its owner has been spoken to. Lists the frozen accounts without --user. */
const usage = `npm run ops -- accounts unfreeze
npm run ops -- accounts unfreeze --user <id|e-mail> --reason <text> [--apply [--void-password] [--send-waiting]]

Without --user it lists the frozen accounts. With --user and --apply the account is unfrozen. Unfreezing ends all sessions,
voids "This was not me" links, and removes recovery codes and what was younger than 72 hours when the account was frozen: factors,
the payout wallet and API keys. Webhooks that were set up, pointed elsewhere or enabled in that time are disabled; the owner enables them.
Withdrawals and refunds that were not sent yet are listed. --apply is refused while one of them would be sent without a
confirmation: a thief may have asked for it. npm run ops -- payouts void <reference> and refunds --give-back <refund> give the
money back; with --send-waiting it is sent.
First make sure that you talk with the owner.`

const mostListed = 1000

async function listFrozen(db: Knex): Promise<Outcome> {
  const frozen = await User.query(db).whereNotNull('frozen_at').orderBy('frozen_at').limit(mostListed)
  return {
    text: frozen.length === 0 ? 'no account is frozen' : frozen.map(frozenLine).join('\n'),
    json: {
      accounts: frozen.map(({ id, email, frozenAt, frozenReason }) => ({
        id,
        email,
        frozenAt,
        frozenReason,
      })),
    },
  }
}

function frozenLine({ id, email, frozenAt, frozenReason }: User): string {
  return `${email} (${id}) is frozen since ${frozenAt?.toISOString()}: ${frozenReason}`
}

interface Waiting {
  /** Of a refund its id. */
  readonly reference: string
  readonly amount: string
  /** Null: a refund, which goes back to the payer of its tip. */
  readonly bank: string | null
  readonly accountNumber: string | null
  readonly since: Date
  readonly sendState: SendState
  /** Nothing holds it: it is sent as soon as the account is not frozen. */
  readonly isSent: boolean
}

/** What the others wait for. */
const waitFor: Partial<Record<SendState, string>> = {
  identity_hold: 'not sent before the identity is verified',
  confirmation_hold: 'not sent before the owner confirms it',
}

/** Withdrawals and refunds that may still be sent. While the account is frozen no new one comes. */
async function listWaiting(db: Knex, userId: string): Promise<Waiting[]> {
  type Row = Omit<Waiting, 'amount' | 'accountNumber'> & { kobo: bigint; lastFour: string | null }
  const rows = await query<Row>(db, {
    name: 'unfreeze.waiting',
    text: /* sql */ `
      select w.reference, w.net_kobo as kobo, coalesce(b.name, 'bank ' || w.bank_code) as bank, w.account_last_four as "lastFour",
        w.created_at as since, w.send_state as "sendState", w.send_state in (${sqlList(sendableStates)}) as "isSent"
      from withdrawals w left join banks b on b.code = w.bank_code
      where w.user_id = $1 and w.status = 'pending' and w.send_state in (${sqlList([...heldStates, ...sendableStates])})
      union all
      select id, kobo, null, null, created_at, send_state, true from refunds
      where user_id = $1 and status = 'pending' and send_state in (${sqlList(sendableStates)})
      order by since`,
    values: [userId],
  })
  return rows.map(({ kobo, lastFour, ...row }) => ({
    ...row,
    amount: nairaText(kobo),
    accountNumber: lastFour && maskAccount(lastFour),
  }))
}

interface YoungAccess {
  readonly what: 'API key' | 'webhook'
  /** The prefix of a key, the URL of a webhook. */
  readonly name: string
  readonly since: Date
}

/** What unfreezing revokes and disables. A webhook may be disabled as `void` already. */
function listYoungAccess(db: Knex, userId: string): Promise<YoungAccess[]> {
  return query<YoungAccess>(db, {
    name: 'unfreeze.young-access',
    text: /* sql */ `
      select 'API key' as what, k.prefix as name, k.created_at as since from api_keys k join users u on u.id = k.user_id
      where k.user_id = $1 and k.revoked_at is null and ${youngWhenFrozen('k.created_at')}
      union all
      select 'webhook', e.url, e.pointed_at from webhook_endpoints e join users u on u.id = e.user_id
      where e.user_id = $1 and (e.disabled is null or e.disabled = 'void') and ${youngWhenFrozen('e.pointed_at')}
      order by since`,
    values: [userId],
  })
}

function describeYoungAccess(young: readonly YoungAccess[]): string {
  const lines = young.map(({ what, name, since }) => `  ${what} ${name}, since ${since.toISOString()}`)
  return [`API keys that are revoked and webhooks that are disabled: ${young.length}`, ...lines].join('\n')
}

function describeWaiting(waiting: readonly Waiting[]): string {
  const lines = waiting.map(
    ({ reference, amount, bank, accountNumber, since, sendState, isSent }) =>
      `  ${reference}  ${amount} ${bank === null ? 'back to the payer of a tip' : `to ${bank} ${accountNumber}`}, since ${since.toISOString()}, ${isSent ? 'sent at once after unfreezing' : (waitFor[sendState] ?? 'held')}`,
  )
  return [`withdrawals and refunds that were not sent yet: ${waiting.length}`, ...lines].join('\n')
}

function present(
  user: User,
  applied: boolean,
  waiting: readonly Waiting[] = [],
  young: readonly YoungAccess[] = [],
): Outcome {
  const json = { applied, userId: user.id, email: user.email, waiting, young }
  if (user.frozenAt === null) return { text: `${user.email} (${user.id}) is not frozen: nothing to do`, json }
  const change = describeChange(frozenLine(user), 'unfrozen', applied)
  const parts = [
    change,
    ...(young.length === 0 ? [] : [describeYoungAccess(young)]),
    ...(waiting.length === 0 ? [] : [describeWaiting(waiting)]),
  ]
  return { text: parts.join('\n'), json }
}

export const command = await defineCommand(import.meta, {
  usage,
  options,
  run: (values, order) =>
    withServices('ops unfreeze', async ({ db, transact, config }) => {
      if (values.user === undefined) return listFrozen(db)
      const user = await findUser(db, values.user)
      if (user.frozenAt === null) return present(user, false)
      const waiting = await listWaiting(db, user.id)
      const young = await listYoungAccess(db, user.id)
      if (!order.apply) return present(user, false, waiting, young)
      order.reason()
      if (waiting.some(({ isSent }) => isSent) && values['send-waiting'] !== true)
        throw new RefusedError(
          `${describeWaiting(waiting)}\nVoid (payouts void) or give back (refunds --give-back) what the owner did not ask for; add --send-waiting to have the others go on`,
          { waiting },
        )
      const applied = await transact(async (uow) => {
        const since = await unfreezeAccount(uow, {
          userId: user.id,
          publicUrl: config.http.publicUrl,
          voidPassword: values['void-password'] === true,
        })
        if (since === undefined) return false
        await revokeYoungKeys(uow.trx, user.id, since)
        await disableYoung(uow.trx, user.id, since)
        await order.audit(uow.trx, 'unfreeze', `user:${user.id}`, {
          frozenAt: user.frozenAt,
          frozenReason: user.frozenReason,
          waiting: waiting.map(({ reference }) => reference),
          young: young.map(({ what, name }) => `${what} ${name}`),
        })
        return true
      })
      return applied ? present(user, true, waiting, young) : present(await findUser(db, user.id), false)
    }),
})
