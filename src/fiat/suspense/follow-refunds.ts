import { ProviderError } from '../../kernel/provider-error.js'
import type { Services } from '../../services.js'
import {
  decideRefund,
  followRefund,
  listSuspenseRefundsOf,
  noteAnswer,
  type RefundReader,
  refundFailed,
  waitAgain,
} from './refund.js'
import { findSuspense, type RefundItem } from './suspense.js'

export type FollowNeeds = Pick<Services, 'db' | 'transact' | 'config' | 'metrics' | 'log'> & {
  readonly refunds: RefundReader
}

export const firstPauseSeconds = 10
/** Some refunds take days. Their webhook usually comes first. */
const longestPauseSeconds = 3600

/**
 * Follows the refunds of these payments that are or may be under way, until the provider shows them as returned or failed. It
 * only asks: what must be requested again waits for an operator, with an alarm. Two workers at the same time book a return once.
 * Returns the seconds until the next look; undefined when none is under way any more.
 */
export async function followRefunds(
  services: FollowNeeds,
  transactions: readonly string[],
): Promise<number | undefined> {
  const pauses = await Promise.all(transactions.map((transaction) => followOne(services, transaction)))
  const known = pauses.filter((pause) => pause !== undefined)
  return known.length === 0 ? undefined : Math.min(...known)
}

async function followOne(services: FollowNeeds, transaction: string): Promise<number | undefined> {
  const item = await findSuspense(services.db, transaction)
  if (item?.state !== 'refunding') return undefined
  const pause = Math.min(Math.max((item.sinceRefund ?? 0) / 2, firstPauseSeconds), longestPauseSeconds)
  try {
    return (await takeNextStep(services, item)) ? undefined : pause
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error
    services.metrics.alerts.inc({ kind: 'fiatpay_away' })
    services.log.warn({ err: error, transaction }, 'a refund could not be followed; it is tried again later')
    return pause
  }
}

/** Whether the item is not under way any more. */
async function takeNextStep(services: FollowNeeds, item: RefundItem): Promise<boolean> {
  const { db, config, refunds } = services
  const step = decideRefund(item, await listSuspenseRefundsOf(refunds, item), config.payouts.settleSeconds)
  if (step.kind === 'wait') return false
  if (step.kind === 'failed') {
    await waitAgain(db, item, refundFailed)
    alarm(services, item, refundFailed)
    return true
  }
  if (step.kind === 'follow') {
    const outcome = await followRefund(services, item, step.refund)
    if (step.refund.state === 'attention') alarm(services, item, 'the refund waits at the provider')
    return outcome.kind === 'followed' && outcome.done
  }
  const reason = step.kind === 'refuse' ? step.reason : 'the provider shows no refund: run --refund again'
  await noteAnswer(db, item, reason)
  alarm(services, item, reason)
  return false
}

function alarm(
  { metrics, log }: Pick<Services, 'metrics' | 'log'>,
  { transaction }: RefundItem,
  reason: string,
): void {
  metrics.alerts.inc({ kind: 'fiat_suspense' })
  log.error({ transaction, reason }, 'a refund waits for an operator. Run: npm run ops -- suspense')
}
