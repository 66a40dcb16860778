import test from 'ava'
import { openStatuses } from '../../../src/outgoing/lifecycle.js'
import type { ProviderTransfer } from '../../../src/ports/payouts.js'
import { type Comparable, findDifferences } from '../../../src/withdrawals/reconcile/compare-statement.js'

const ours: Comparable = {
  providerReference: 'fiatpay-1',
  status: 'completed',
  netKobo: 5000n,
  recredited: false,
  settled: false,
}
const theirs: ProviderTransfer = {
  id: 'TRF_1',
  reference: 'fiatpay-1',
  amountKobo: 5000n,
  feeKobo: 0n,
  currency: 'NGN',
  state: 'paid',
  reason: null,
}
const kinds = (
  listed: readonly ProviderTransfer[],
  own: readonly Comparable[],
  sent: readonly Comparable[] = [],
) => findDifferences(listed, own, sent).map(({ kind }) => kind)

test('a transfer that only one side has, or that exists twice, is a difference', (t) => {
  t.deepEqual(kinds([theirs], []), ['not_ours'])
  t.deepEqual(kinds([], [], [ours]), ['not_theirs'])
  t.deepEqual(kinds([theirs, { ...theirs, id: 'TRF_2' }], [ours]), ['sent_twice'])
})

test('another amount or currency is a difference', (t) => {
  t.deepEqual(kinds([{ ...theirs, amountKobo: 5001n }], [ours]), ['amount'])
  t.deepEqual(kinds([{ ...theirs, currency: 'USD' }], [ours]), ['amount'])
})

test('contradicting final states are a difference, and a payout under way is not', (t) => {
  for (const state of ['accepted', 'started', 'failed', 'returned'] as const)
    t.deepEqual(kinds([{ ...theirs, state }], [ours]), ['status'], state)
  for (const state of ['accepted', 'started', 'paid'] as const)
    t.deepEqual(kinds([{ ...theirs, state }], [{ ...ours, status: 'failed' }]), ['status'], state)
  for (const status of openStatuses) t.deepEqual(kinds([theirs], [{ ...ours, status }]), [], status)
})

test('a contradiction that a person has settled is no difference, but another amount still is', (t) => {
  const settled = { ...ours, settled: true }
  t.deepEqual(kinds([{ ...theirs, state: 'returned' }], [settled]), [])
  t.deepEqual(kinds([{ ...theirs, state: 'returned', amountKobo: 1n }], [settled]), ['amount'])
})

test('after a re-credit only a transfer that is paid again is a difference', (t) => {
  const recredited = { ...ours, recredited: true }
  for (const state of ['failed', 'returned'] as const)
    t.deepEqual(kinds([{ ...theirs, state }], [recredited]), [], state)
  for (const state of ['accepted', 'started', 'paid'] as const) {
    t.deepEqual(kinds([{ ...theirs, state }], [recredited]), ['status'], state)
    t.deepEqual(kinds([{ ...theirs, state }], [{ ...recredited, settled: true }]), [], state)
  }
})
