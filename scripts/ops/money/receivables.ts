import type { Knex } from 'knex'
import { usdcText } from '../../../src/kernel/money.js'
import {
  findReceivable,
  listDebts,
  type Receivable,
} from '../../../src/ledger/receivables/read-receivables.js'
import { writeOffReceivable } from '../../../src/ledger/receivables/receivables.js'
import { defineCommand, defineOptions, finalOptions, type Outcome } from '../support/command.js'
import { type Order, RefusedError } from '../support/order.js'
import { findUser, withDatabase } from '../support/services.js'

const options = defineOptions(finalOptions, {
  '--write-off <creator or case>': 'a user id, an e-mail address, or a case as listed, such as dispute:17',
  '--confirm <the same>': 'the creator or case once more; required with --apply',
})

/** Lists what creators owe for payments that went back, and writes debts off. */
const usage = `npm run ops -- receivables
npm run ops -- receivables --write-off <creator or case> [--apply --confirm <the same> --reason <text>]

Lists what creators owe after lost disputes, refunds and reversals, oldest first, at most 1,000. While a creator owes, what becomes
available pays it, unsent withdrawals wait and take-outs are refused.

--write-off gives up what is still owed: all cases of a creator, or one. It becomes our loss, later tips do not pay it, and the
creator can withdraw again. It cannot be taken back, except that a dispute which is won after all undoes it.`

const maxRows = 1000

async function list(db: Knex): Promise<Outcome> {
  const owed = await listDebts(db, maxRows)
  return {
    text: owed.length === 0 ? 'no creator owes anything' : owed.map(lineOf).join('\n'),
    json: { owed: owed.map(jsonOf) },
  }
}

function openOf({ amountMicro, coveredMicro }: Receivable): bigint {
  return amountMicro - coveredMicro
}

function lineOf(one: Receivable): string {
  const { id, userId, ref, amountMicro, createdAt } = one
  const amounts = `${usdcText(openOf(one))} of ${usdcText(amountMicro)}`
  return `${createdAt.toISOString()}  ${id}  ${amounts}  creator ${userId}  ${ref}`
}

function jsonOf({ id, userId, ref, amountMicro, coveredMicro, createdAt }: Receivable) {
  return { case: id, userId, tip: ref, amountMicro, paidMicro: coveredMicro, createdAt }
}

/** Throws UsageError, RefusedError. */
async function findOwed(db: Knex, named: string): Promise<Receivable[]> {
  // No user id and no e-mail address has a colon.
  if (!named.includes(':')) return listDebts(db, maxRows, (await findUser(db, named, '--write-off')).id)
  const one = await findReceivable(db, named)
  if (one === undefined) throw new RefusedError(`there is no case ${named}`)
  return one.owed && !one.isClosed && openOf(one) > 0n ? [one] : []
}

async function writeOff(db: Knex, named: string, order: Order): Promise<Outcome> {
  const { apply } = order
  order.confirmed('--write-off', named)
  const owed = await findOwed(db, named)
  if (owed.length === 0) throw new RefusedError(`${named} owes nothing`)
  const micro = apply ? await writeOffAll(db, owed, order) : owed.reduce((sum, one) => sum + openOf(one), 0n)
  return {
    text: [...owed.map(lineOf), order.tell(usdcText(micro), 'written off')].join('\n'),
    json: { applied: apply, micro, cases: owed.map(({ id }) => id) },
  }
}

/** All cases or none. What a tip has paid meanwhile is not written off. Returns what was. Throws RefusedError when that is nothing. */
function writeOffAll(db: Knex, owed: readonly Receivable[], order: Order): Promise<bigint> {
  return db.transaction(async (trx) => {
    let sum = 0n
    for (const { id, userId } of owed) {
      const micro = await writeOffReceivable(trx, id)
      if (micro === 0n) continue
      await order.audit(trx, 'receivables write-off', `user:${userId}`, { case: id, micro })
      sum += micro
    }
    if (sum === 0n) throw new RefusedError('nothing is owed any more')
    return sum
  })
}

export const command = await defineCommand(import.meta, {
  usage,
  amounts: 'micro-USDC',
  options,
  run: (values, order) =>
    withDatabase((db) => {
      const named = values['write-off']?.trim()
      return named === undefined ? list(db) : writeOff(db, named, order)
    }),
})
