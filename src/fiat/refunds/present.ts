import { displayNumber } from '../../kernel/money.js'
import { openStatuses } from '../../outgoing/lifecycle.js'
import type { TipRefund } from './refund.js'
import type { Refund } from './schemas.js'

/** What the creator asked for at once: the refunds of one request, each of another payment. Newest request first. */
export function presentRefunds(refunds: readonly TipRefund[]): Refund[] {
  const requests = new Set(refunds.map(({ requestId }) => requestId))
  return [...requests].map((id) => presentRequest(refunds.filter(({ requestId }) => requestId === id)))
}

/** The amounts are those of the parts that have not failed; when all have, what was asked for. */
export function presentRequest(parts: readonly TipRefund[]): Refund {
  const [first] = parts
  if (first === undefined) throw new Error('A request has at least one refund')
  const living = parts.filter(({ status }) => status !== 'failed')
  const counted = living.length > 0 ? living : parts
  const sum = (amount: (part: TipRefund) => bigint): bigint =>
    counted.reduce((total, part) => total + amount(part), 0n)
  const isOpen = parts.some(({ status }) => openStatuses.includes(status))
  const ends = parts.flatMap(({ endedAt }) => endedAt ?? [])
  return {
    id: first.requestId,
    tipId: first.intentId,
    amountUSD: displayNumber(
      sum(({ amountCents }) => amountCents),
      2,
    ),
    amountUSDC: displayNumber(
      sum(({ debitMicro }) => debitMicro),
      6,
    ),
    amountNGN: displayNumber(
      sum(({ kobo }) => kobo),
      2,
    ),
    status: isOpen ? 'pending' : living.length > 0 ? 'paid' : 'failed',
    failureReason: parts.find(({ failureReason }) => failureReason !== null)?.failureReason ?? null,
    createdAt: first.createdAt.toISOString(),
    endedAt: isOpen ? null : new Date(Math.max(...ends.map((end) => end.getTime()))).toISOString(),
  }
}
