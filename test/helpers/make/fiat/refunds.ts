import { type Composed, composeRefunds } from '../../../../src/compose.js'
import { sendingRefundKind } from '../../../../src/fiat/refunds/refund-kind.js'
import { createFollowBatch } from '../../../../src/outgoing/follow.js'
import { createSendBatch } from '../../../../src/outgoing/send.js'
import type { Batch } from '../../../../src/platform/worker/batch-loop.js'
import { as } from '../../servers/roles.js'
import { runBatch, type World } from '../../servers/world.js'
import type { Person } from '../creators.js'
import { createFiatIntent, payFiatIntent, settleIntentNow } from './fiat-tips.js'

/** One of GET /creators/tips/{id}/refunds. */
export interface RefundBody {
  readonly id: string
  readonly tipId: string
  readonly amountUSD: number
  readonly amountUSDC: number
  readonly amountNGN: number
  readonly status: 'pending' | 'paid' | 'failed'
  readonly failureReason: string | null
  readonly createdAt: string
  readonly endedAt: string | null
}

/** Creates a naira tip, pays it and settles it. Returns its id. `kobo`: what is paid; absent: the charge. */
export async function paidTip(
  world: World,
  creator: Person,
  { kobo, ...body }: { readonly amount?: number; readonly kobo?: number; readonly payerEmail?: string } = {},
): Promise<string> {
  const { intentId } = await createFiatIntent(world, { creatorId: creator.user.id, amount: 10, ...body })
  payFiatIntent(world, intentId, kobo)
  await settleIntentNow(world, intentId)
  return intentId
}

/** Asks for a refund and returns the answer, also a refusal. */
export function requestRefund<Body = { readonly refund: RefundBody }>(
  { request }: World,
  { session }: Pick<Person, 'session'>,
  tipId: string,
  amountUSD?: unknown,
  { key, code }: { readonly key?: string; readonly code?: string | undefined } = {},
) {
  return request<Body>('POST', `/creators/tips/${tipId}/refund`, {
    session,
    body: { ...(amountUSD === undefined ? {} : { amountUSD }), ...(code === undefined ? {} : { code }) },
    ...(key === undefined ? {} : { headers: { 'idempotency-key': key } }),
  })
}

export async function listRefunds(
  { request }: World,
  { session }: Pick<Person, 'session'>,
  tipId: string,
): Promise<readonly RefundBody[]> {
  const answer = await request<{ refunds: RefundBody[] }>('GET', `/creators/tips/${tipId}/refunds`, {
    session,
  })
  if (answer.status !== 200) throw new Error(`refunds: ${answer.status} ${JSON.stringify(answer.body)}`)
  return answer.body.refunds
}

/** What sends refunds and what follows them, as the payouts worker runs them. */
export function refundBatches(services: Composed): readonly [send: Batch, follow: Batch] {
  const sender = as('payouts', services)
  const kind = sendingRefundKind(sender, composeRefunds(services.config))
  return [createSendBatch(sender, kind), createFollowBatch(sender, kind)]
}

/** Makes every refund that has not ended due, and runs the worker that sends and follows them. */
export async function workOnRefunds({ db, services }: World): Promise<void> {
  for (const batch of refundBatches(services)) {
    await db('refunds')
      .whereNull('ended_at')
      .update({ due_at: new Date(0) })
    await runBatch(batch)
  }
}

/** The refunds of a tip at the provider, oldest first. */
export const refundsAtProvider = ({ fiat }: World, tipId: string) =>
  fiat.fiatpay.log().refunds.filter(({ reference }) => reference === tipId.replace('_', '-'))

/** Gives the newest refund of a tip an outcome at the provider. */
export function endRefundAtProvider(
  { fiat }: World,
  tipId: string,
  outcome: 'processed' | 'failed' | 'needs-attention',
): void {
  const taken = fiat.fiatpay.refunds.find(tipId)
  if (taken === undefined) throw new Error('no refund')
  fiat.fiatpay.setRefundOutcome(taken, outcome)
}
