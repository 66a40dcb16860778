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
import { describeChange, type Outcome, RefusedError } from '../command.js'
import { findUser } from '../find-user.js'
import { recordAudit } from '../record-audit.js'

export interface AdoptOrder {
  readonly reference: string
  /** The id or the e-mail of the creator; undefined: whoever has used the bank account before. */
  readonly creator: string | undefined
  /** What it cost; undefined: by the rate of then. */
  readonly debitMicro: bigint | undefined
  readonly actor: string
  /** Empty in a plan. */
  readonly reason: string
  readonly apply: boolean
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
export async function adoptPayout(services: Composed, order: AdoptOrder): Promise<Outcome> {
  const { reference, apply } = order
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
    if (apply) await applyHeld(services, order, known)
    const line = `${shown}: taken out of ${known.sendState}, to be followed`
    return { text: describeChange(line, 'adopted', apply), json: { applied: apply, reference } }
  }
  const lost = await describeLost(services, order, found)
  const owedMicro = apply ? await applyLost(services, order, lost) : 0n
  const debit = usdcText(lost.price.debitMicro)
  const owed = owedMicro === 0n ? '' : `, who has too little and owes ${usdcText(owedMicro)} of it`
  const amounts = { debitMicro: String(lost.price.debitMicro), owedMicro: String(owedMicro) }
  return {
    text: describeChange(`${shown}: ${debit} of user ${lost.userId}${owed}`, 'adopted', apply),
    json: { applied: apply, reference, userId: lost.userId, ...amounts },
  }
}

async function describeLost(
  services: Composed,
  { reference, creator, debitMicro }: AdoptOrder,
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

async function applyHeld({ transact }: Composed, order: AdoptOrder, known: Known): Promise<void> {
  await transact(async (uow) => {
    const { trx, wake } = uow
    if (!(await adoptHeld(uow, known))) throw new RefusedError(`${order.reference} has changed meanwhile`)
    await audit(trx, order, {})
    wake('payouts')
  })
}

/** Returns what the creator owes for it. */
function applyLost(services: Composed, order: AdoptOrder, lost: LostWithdrawal): Promise<bigint> {
  return services.transact(async (uow) => {
    const owedMicro = await adoptLost(uow, services, lost)
    const amounts = { debitMicro: String(lost.price.debitMicro), owedMicro: String(owedMicro) }
    await audit(uow.trx, order, { userId: lost.userId, ...amounts })
    return owedMicro
  })
}

type Transaction = Parameters<typeof recordAudit>[0]

function audit(
  trx: Transaction,
  { reference, actor, reason }: AdoptOrder,
  details: Record<string, string>,
): Promise<void> {
  return recordAudit(trx, {
    actor,
    action: 'payouts adopt',
    subject: `payout:${reference}`,
    details: { reason, ...details },
  })
}
