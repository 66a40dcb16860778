import type { Knex } from 'knex'
import { shareUnfrozen } from '../../accounts/account.js'
import { hasFactor, readRecentChanges } from '../../accounts/protection.js'
import { withStepUp } from '../../accounts/step-up/step-up.js'
import { isSignature } from '../../kernel/base58.js'
import { DomainError, inputError } from '../../kernel/errors.js'
import { isFiatIntentId, isIntentId, newRefundId } from '../../kernel/ids.js'
import {
  baseUnits,
  displayNumber,
  displayText,
  divideHalfUp,
  least,
  nairaText,
  usdcText,
} from '../../kernel/money.js'
import { readBalance } from '../../ledger/accounts.js'
import { findLastAcceptedRate } from '../../market/accepted-rates.js'
import type { ExchangeRates } from '../../market/exchange-rates.js'
import { openStatuses } from '../../outgoing/lifecycle.js'
import { query, write } from '../../platform/database/database.js'
import { type KeyedRequest, storeWithCreation } from '../../platform/database/idempotency-keys.js'
import type { UnitOfWork } from '../../platform/database/transact.js'
import type { Services } from '../../services.js'
import { showRefunded } from '../../tips/fiat-tip.js'
import { isHolding } from '../disputes/record-dispute.js'
import { goneCents } from '../gone-payments.js'
import { readReserved } from '../settlement/card-reserve.js'
import { lockIntent } from '../settlement/lock-intent.js'
import { mailRefund } from './mails.js'
import { amountOf, leftKobo, leftOf, planRefund, type RefundPart, readCredited } from './plan-refund.js'
import { listRefunds, reserveRefund, type TipRefund } from './refund.js'
import type { Refund, RefundInput } from './schemas.js'

type Needs = Pick<Services, 'db' | 'transact' | 'config'>

/**
 * Gives a naira tip back to its payer, or a part of it (API: POST /creators/tips/:id/refund). Holds what its naira cost, and leaves
 * the sending to the worker. Every refusal comes before that. The lock of the tip runs the refunds of a tip one after the other: never
 * more than was paid goes back. It needs a step-up, under `contract` only in an account with a second factor. With an idempotency key the answer is stored in the same transaction, so it happens once.
 */
export async function refundTip(
  services: Needs,
  rates: Pick<ExchangeRates, 'current'>,
  userId: string,
  { id: tipId, amountUSD, amountNGN, ...presented }: RefundInput,
  keyedRequest: KeyedRequest | undefined,
): Promise<{ readonly refund: Refund }> {
  assertNairaTip(tipId)
  if (amountUSD !== undefined && amountNGN !== undefined)
    throw inputError('invalid_amount', 'amountNGN', 'must not stand beside amountUSD')
  const wanted = { id: tipId, amountUSD, amountNGN }
  await rates.current()
  const refund = async (uow: UnitOfWork): Promise<{ readonly refund: Refund }> => {
    const { trx } = uow
    const parts = await planOwn(trx, services.config, userId, wanted)
    const ids = parts.map(() => newRefundId())
    for (const [index, part] of parts.entries()) {
      const refund = {
        ...part,
        id: ids[index] ?? newRefundId(),
        requestId: ids[0] ?? '',
        userId,
        intentId: tipId,
      }
      await insert(trx, refund)
      await reserveRefund(trx, refund)
    }
    await showRefunded(trx, tipId, await goneCents(trx, tipId))
    const stored = (await listRefunds(trx, tipId)).filter(({ requestId }) => requestId === ids[0])
    const answer = { refund: presentRequest(stored) }
    await mailRefund(uow, services.config, stored, 'requested')
    await storeWithCreation(trx, keyedRequest, answer)
    uow.wake('payouts')
    return answer
  }
  if (services.config.guards === 'contract' && !(await hasFactor(services.db, userId)))
    return services.transact(refund)
  // No code is mailed, and no factor used up, for what is refused.
  const parts = await services.transact(({ trx }) => planOwn(trx, services.config, userId, wanted))
  const request = {
    userId,
    bound: ['refund', tipId, amountNGN === undefined ? String(amountUSD ?? 'all') : `NGN ${amountNGN}`],
    wish: `give ${nairaText(amountOf(parts, 'kobo'))} of a tip back to its payer, which costs ${usdcText(amountOf(parts, 'debitMicro'))}`,
  }
  return withStepUp(services, request, presented, refund)
}

/** All that is left, or an amount in either currency. */
type Wanted = Pick<RefundInput, 'id' | 'amountUSD' | 'amountNGN'>

/** What a request gives back of each payment of its tip, whose lock it takes. Throws every refusal. */
async function planOwn(
  trx: Knex,
  { fiat }: Pick<Needs['config'], 'fiat'>,
  userId: string,
  { id, ...wanted }: Wanted,
): Promise<RefundPart[]> {
  await shareUnfrozen(trx, userId)
  const { changed } = await readRecentChanges(trx, userId)
  if (changed) throw new DomainError('recently_changed')
  const amount = await lockOwnTip(trx, userId, id)
  const parts = await plan(trx, fiat, id, amount, wanted)
  await assertBalance(trx, userId, parts)
  return parts
}

/** The refunds of an own tip. Throws `tip_not_found`. */
export async function listOwnRefunds(db: Knex, userId: string, tipId: string): Promise<TipRefund[]> {
  assertNairaTip(tipId)
  if (!(await isOwnTip(db, userId, tipId))) throw new DomainError('tip_not_found')
  return listRefunds(db, tipId)
}

export function assertNairaTip(tipId: string): void {
  if (isFiatIntentId(tipId)) return
  if (isSignature(tipId) || isIntentId(tipId)) throw new DomainError('tip_not_in_naira')
  throw new DomainError('tip_not_found')
}

export async function isOwnTip(db: Knex, userId: string, tipId: string): Promise<boolean> {
  const rows = await query(db, {
    name: 'refunds.own',
    text: 'select 1 from fiat_intents where id = $1 and user_id = $2',
    values: [tipId, userId],
  })
  return rows.length > 0
}

/** The tip's amount in cents. Throws `tip_not_found` and `tip_not_paid`. */
async function lockOwnTip(trx: Knex, userId: string, tipId: string): Promise<bigint> {
  if (!(await isOwnTip(trx, userId, tipId))) throw new DomainError('tip_not_found')
  const { status } = await lockIntent(trx, tipId)
  if (status !== 'confirmed') throw new DomainError('tip_not_paid')
  const [tip] = await query<{ cents: string }>(trx, {
    name: 'refunds.tip-amount',
    text: 'select display_raw::text as cents from tips where id = $1',
    values: [tipId],
  })
  return BigInt(tip?.cents ?? 0)
}

/** The provider refuses a refund of a disputed payment too: the dispute decides. */
async function isDisputed(trx: Knex, tipId: string): Promise<boolean> {
  const rows = await query(trx, {
    name: 'refunds.disputed',
    text: `select 1 from disputes d where d.intent_id = $1 and ${isHolding} limit 1`,
    values: [tipId],
  })
  return rows.length > 0
}

/** Each part that is paid is a mail to the payer. */
const mostParts = 20

async function countRequests(trx: Knex, tipId: string): Promise<number> {
  const [row] = await query<{ count: number }>(trx, {
    name: 'refunds.count',
    text: 'select count(distinct request_id)::int as count from refunds where intent_id = $1',
    values: [tipId],
  })
  return row?.count ?? 0
}

/** Throws `tip_disputed` while its payer disputes it, `tip_refunded` when nothing is left, `refund_too_late`, `invalid_amount` when less is left than asked for, and `too_many_refunds`. */
async function plan(
  trx: Knex,
  { refundDays }: Needs['config']['fiat'],
  tipId: string,
  tipCents: bigint,
  wanted: Omit<Wanted, 'id'>,
): Promise<RefundPart[]> {
  if (await isDisputed(trx, tipId)) throw new DomainError('tip_disputed')
  const payments = await readCredited(trx, tipId)
  const leftCents = tipCents - (await goneCents(trx, tipId))
  if (leftCents <= 0n || leftKobo(payments) <= 0n) throw new DomainError('tip_refunded')
  if (payments.some((payment) => payment.ageDays > refundDays && leftOf(payment) > 0n))
    throw new DomainError('refund_too_late')
  const { cents, kobo } = partOf(wanted, leftKobo(payments), leftCents)
  if (cents < leftCents && (await countRequests(trx, tipId)) >= mostParts)
    throw new DomainError('too_many_refunds')
  const parts = planRefund(payments, leftCents, cents, (await findLastAcceptedRate(trx))?.value, kobo)
  // Only of a tip that was worth next to nothing.
  if (parts.length === 0 || parts.some(({ debitMicro }) => debitMicro <= 0n))
    throw inputError(
      'invalid_amount',
      kobo === undefined ? 'amountUSD' : 'amountNGN',
      'is too little to be sent back',
    )
  return parts
}

/** What was asked for, in cents of the tip's amount; in naira also the kobo. A part in naira leaves a cent for the rest. */
function partOf(
  { amountUSD, amountNGN }: Omit<Wanted, 'id'>,
  left: bigint,
  leftCents: bigint,
): { readonly cents: bigint; readonly kobo?: bigint } {
  if (amountNGN === undefined) {
    const cents = amountUSD === undefined ? leftCents : (baseUnits(amountUSD, 2) ?? 0n)
    if (cents > leftCents) throw tooMuch('amountUSD', `${displayText(leftCents, 2)} USD`)
    return { cents }
  }
  const kobo = baseUnits(amountNGN, 2) ?? 0n
  if (kobo > left) throw tooMuch('amountNGN', nairaText(left))
  if (kobo === left) return { cents: leftCents }
  const cents = divideHalfUp(leftCents * kobo, left)
  const most = leftCents > 1n ? leftCents - 1n : 1n
  return { cents: least(cents > 0n ? cents : 1n, most), kobo }
}

function tooMuch(field: 'amountUSD' | 'amountNGN', left: string): DomainError {
  return inputError('invalid_amount', field, `is more than the ${left} that are left of this tip`)
}

/** For an error that says how much there is. The ledger refuses what is above the balance in any case. */
async function assertBalance(trx: Knex, userId: string, parts: readonly RefundPart[]): Promise<void> {
  const debit = amountOf(parts, 'debitMicro')
  const { available } = await readBalance(trx, userId, 'USDC')
  let fromReserves = 0n
  for (const { transaction, debitMicro } of parts)
    fromReserves += least(debitMicro, await readReserved(trx, transaction))
  if (debit > available + fromReserves)
    throw inputError(
      'insufficient_balance',
      'amountUSD',
      `debits ${displayNumber(debit, 6)} USDC, which is above the available balance of ${displayNumber(available + fromReserves, 6)} USDC`,
    )
}

type NewRefund = RefundPart & Pick<TipRefund, 'id' | 'requestId' | 'userId' | 'intentId'>

async function insert(trx: UnitOfWork['trx'], refund: NewRefund): Promise<void> {
  await write(trx, {
    name: 'refunds.insert',
    text: /* sql */ `
      insert into refunds (id, source, request_id, user_id, intent_id, provider_transaction, amount_cents, kobo, debit_micro, fee_micro)
      values ($1, 'tip', $2, $3, $4, $5, $6, $7, $8, $9)`,
    values: [
      refund.id,
      refund.requestId,
      refund.userId,
      refund.intentId,
      refund.transaction,
      refund.amountCents,
      refund.kobo,
      refund.debitMicro,
      refund.feeMicro,
    ],
  })
}

/** What the creator asked for at once: the refunds of one request, each of another payment. Newest request first. */
export function presentRefunds(refunds: readonly TipRefund[]): Refund[] {
  const requests = new Set(refunds.map(({ requestId }) => requestId))
  return [...requests].map((id) => presentRequest(refunds.filter(({ requestId }) => requestId === id)))
}

/** The amounts are those of the parts that have not failed; when all have, what was asked for. */
function presentRequest(parts: readonly TipRefund[]): Refund {
  const [first] = parts
  if (first === undefined) throw new Error('A request has at least one refund')
  const living = parts.filter(({ status }) => status !== 'failed')
  const counted = living.length > 0 ? living : parts
  const isOpen = parts.some(({ status }) => openStatuses.includes(status))
  const ends = parts.flatMap(({ endedAt }) => endedAt ?? [])
  return {
    id: first.requestId,
    tipId: first.intentId,
    amountUSD: displayNumber(amountOf(counted, 'amountCents'), 2),
    amountUSDC: displayNumber(amountOf(counted, 'debitMicro'), 6),
    amountNGN: displayNumber(amountOf(counted, 'kobo'), 2),
    status: isOpen ? 'pending' : living.length > 0 ? 'paid' : 'failed',
    failureReason: parts.find(({ failureReason }) => failureReason !== null)?.failureReason ?? null,
    createdAt: first.createdAt.toISOString(),
    endedAt: isOpen ? null : new Date(Math.max(...ends.map((end) => end.getTime()))).toISOString(),
  }
}
