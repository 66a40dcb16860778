import type { Composed } from '../../../../src/compose.js'
import { nairaText, usdcText } from '../../../../src/kernel/money.js'
import { heldStates, type SendState } from '../../../../src/outgoing/lifecycle.js'
import { query } from '../../../../src/platform/database/database.js'
import type { ProviderTransfer } from '../../../../src/ports/payouts.js'
import { adoptHeld } from '../../../../src/withdrawals/confirmation/release.js'
import {
  adoptLost,
  findOwners,
  type LostWithdrawal,
  priceLost,
} from '../../../../src/withdrawals/reconcile/adopt-withdrawal.js'
import type { Outcome } from '../command.js'
import { type Order, RefusedError } from '../order.js'
import { findUser } from '../services.js'

interface Adoption {
  readonly reference: string
  /** The id or the e-mail of the creator; undefined: whoever has used the bank account before. */
  readonly creator: string | undefined
  /** What it cost; undefined: by the rate of then. */
  readonly debitMicro: bigint | undefined
}

interface Known {
  readonly id: string
  readonly sendState: SendState
  readonly status: string
}

/**
 * Adopts what the provider has and the rows lost in a restore: a withdrawal that is not there, or one that still waits for its
 * creator. Throws RefusedError, ProviderError.
 */
export async function adoptPayout(services: Composed, asked: Adoption, order: Order): Promise<Outcome> {
  const { reference } = asked
  const { apply } = order
  const found = await services.payouts.findTransfer(reference.toLowerCase())
  if (found === undefined) throw new RefusedError(`the provider does not find ${reference}`)
  const [known] = await query<Known>(services.db, {
    name: 'ops.adopt-known',
    text: 'select id, send_state as "sendState", status from withdrawals where reference = $1',
    values: [reference],
  })
  const shown = `${reference}  ${nairaText(found.amountKobo)}, which the provider shows ${found.state}`
  if (known !== undefined) {
    if (!heldStates.includes(known.sendState))
      throw new RefusedError(`${reference} is here, ${known.status}/${known.sendState}: nothing to adopt`)
    if (apply)
      await services.transact(async (uow) => {
        if (!(await adoptHeld(uow, known))) throw new RefusedError(`${reference} has changed meanwhile`)
        await order.audit(uow.trx, 'payouts adopt', `payout:${reference}`)
        uow.wake('payouts')
      })
    const text = order.tell(`${shown}: taken out of ${known.sendState}, to be followed`, 'adopted')
    return { text, json: { applied: apply, reference } }
  }
  const lost = await describeLost(services, asked, found)
  const { userId, price } = lost
  const { debitMicro } = price
  const owedMicro = apply
    ? await services.transact(async (uow) => {
        const owes = await adoptLost(uow, services, lost)
        const details = { userId, debitMicro, owedMicro: owes }
        await order.audit(uow.trx, 'payouts adopt', `payout:${reference}`, details)
        return owes
      })
    : 0n
  const owed = owedMicro === 0n ? '' : `, who has too little and owes ${usdcText(owedMicro)} of it`
  return {
    text: order.tell(`${shown}: ${usdcText(debitMicro)} of user ${userId}${owed}`, 'adopted'),
    json: { applied: apply, reference, userId, debitMicro, owedMicro },
  }
}

async function describeLost(
  services: Composed,
  { reference, creator, debitMicro }: Adoption,
  found: ProviderTransfer,
): Promise<LostWithdrawal> {
  const { payee } = found
  if (payee === undefined || found.currency !== 'NGN')
    throw new RefusedError(
      `the provider does not say to which naira account ${reference} goes: settle it by hand`,
    )
  const userId = creator === undefined ? undefined : (await findUser(services.db, creator, '--creator')).id
  const owners = userId === undefined ? await findOwners(services, payee) : [userId]
  const [owner, ...more] = owners
  if (owner === undefined || more.length > 0)
    throw new RefusedError(
      `${reference} paid ${payee.accountName}, account ******${payee.accountNumber.slice(-4)} at bank ${payee.bankCode}, which ` +
        `${owner === undefined ? 'nobody has used before' : `${owners.length} creators have used: ${owners.join(', ')}`}. Find ` +
        'whose it is (the mail of the withdrawal names it), and say --creator <id or e-mail>',
    )
  const priced = await priceLost(services, found, debitMicro)
  if (priced === undefined) throw new RefusedError('there is no accepted exchange rate')
  return { reference, userId: owner, ...priced, payee }
}
