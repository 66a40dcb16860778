import test from 'ava'
import type { ProviderTransfer } from '../../../src/ports/payouts.js'
import {
  type ActionOptions,
  checkAction,
  type OperatorAction,
  type ReviewedWithdrawal,
} from '../../../src/withdrawals/review/check-action.js'

const rules = { deduplicates: true, settleSeconds: 900 }
const hour = 3600

/** A withdrawal of 20 USDC (NGN 31,680.00) that was completed. */
const withdrawal = {
  status: 'completed',
  sendState: 'sent',
  sends: 1,
  sinceSent: 90_000,
  providerReference: 'fiatpay-1',
  heldMicro: 20_000_000n,
  debitMicro: 20_000_000n,
  grossKobo: 3_200_000n,
  feeKobo: 32_000n,
  netKobo: 3_168_000n,
  isResolved: false,
  recreditedAt: null,
} as ReviewedWithdrawal['withdrawal']

function transferThat(state: ProviderTransfer['state']): ProviderTransfer {
  const { providerReference: reference, netKobo: amountKobo } = withdrawal
  return { id: '1', reference, amountKobo, feeKobo: 0n, currency: 'NGN', state, reason: null }
}

/** Reviews that were opened so many hours ago. */
function openedBefore(hours: Partial<Record<'reversed' | 'failed_after_completed', number>>) {
  return Object.entries(hours).map(([kind, age]) => ({
    kind: kind as 'reversed' | 'failed_after_completed',
    createdAt: new Date(0),
    ageSeconds: age * hour,
  }))
}

/** What the plan says, or why it is refused. */
function planOf(
  action: OperatorAction,
  reviewed: Partial<ReviewedWithdrawal>,
  options?: ActionOptions,
): string {
  const all = { withdrawal, found: undefined, openReviews: [], closedReviews: [], ...reviewed }
  const permission = checkAction(action, all, rules, options)
  return 'refused' in permission ? `refused: ${permission.refused}` : permission.done
}

test('recredit waits 24 hours after the first sight of the return, however often it was seen since', (t) => {
  const found = transferThat('returned')
  const plan = (hours: Parameters<typeof openedBefore>[0], now?: boolean) =>
    planOf('recredit', { found, openReviews: openedBefore(hours) }, now === undefined ? {} : { now })
  t.regex(
    plan({ reversed: 23.9 }),
    /^refused: .* reversed was first seen at .* or add --now beside --reason$/,
  )
  t.regex(plan({ reversed: 23.9 }, true), /^credit the creator with 20 USDC again, once/)
  t.regex(plan({ reversed: 24 }), /^credit/)
  t.regex(plan({ reversed: 25, failed_after_completed: 1 }), /^credit/)
  t.regex(plan({ reversed: 1, failed_after_completed: 25 }), /^credit/)
  t.regex(plan({ reversed: 1, failed_after_completed: 23 }), /failed_after_completed was first seen/)
})

test('close is refused while money is held: nobody would be asked about it again', (t) => {
  const openReviews = [{ kind: 'unknown', createdAt: new Date(0), ageSeconds: hour }] as const
  const held = { ...withdrawal, status: 'pending', sendState: 'manual_review' } as typeof withdrawal
  t.regex(
    planOf('close', { withdrawal: held, openReviews }),
    /^refused: the creator's 20 USDC are still held/,
  )
  t.regex(planOf('void', { withdrawal: held, openReviews }), /^fail it and give the creator 20 USDC back/)
  t.regex(planOf('close', { openReviews }), /^close the open reviews: unknown\./)
  const again = { ...held, sendState: 'resend' } as typeof withdrawal
  t.regex(planOf('void', { withdrawal: again }), /^fail it/, 'it may wait for long: its account is frozen')
  t.regex(
    planOf('void', { withdrawal: { ...again, sinceSent: 10 } }),
    /^refused: the provider may still show it/,
  )
})
