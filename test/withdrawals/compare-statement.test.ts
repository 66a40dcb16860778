import test from 'ava'
import type { ProviderTransfer } from '../../src/ports/payouts.js'
import { type Comparable, differencesOf } from '../../src/withdrawals/reconcile/compare-statement.js'

const ours: Comparable = {
  providerReference: 'fiatpay-1',
  status: 'completed',
  netKobo: 5000n,
  dealtWith: false,
}
const theirs: ProviderTransfer = {
  id: 'TRF_1',
  reference: 'fiatpay-1',
  amountKobo: 5000n,
  currency: 'NGN',
  state: 'paid',
  reason: null,
}
const kinds = (
  listed: readonly ProviderTransfer[],
  own: readonly Comparable[],
  sent: readonly Comparable[] = [],
) => differencesOf(listed, own, sent).map(({ kind }) => kind)

test('lists that say the same differ in nothing', (t) => {
  t.deepEqual(kinds([theirs], [ours], [ours]), [])
  t.deepEqual(kinds([], [], []), [])
})

test('what only one of the two has is told, and what is there twice', (t) => {
  t.deepEqual(kinds([theirs], []), ['not_ours'])
  t.deepEqual(kinds([], [], [ours]), ['not_theirs'])
  t.deepEqual(kinds([theirs, { ...theirs, id: 'TRF_2' }], [ours]), ['sent_twice'])
})

test('another amount or currency is told', (t) => {
  t.deepEqual(kinds([{ ...theirs, amountKobo: 5001n }], [ours]), ['amount'])
  t.deepEqual(kinds([{ ...theirs, currency: 'USD' }], [ours]), ['amount'])
})

test('ends that contradict each other are told, and what is under way is not', (t) => {
  for (const state of ['accepted', 'started', 'failed', 'returned'] as const)
    t.deepEqual(kinds([{ ...theirs, state }], [ours]), ['status'], state)
  for (const state of ['accepted', 'started', 'paid'] as const)
    t.deepEqual(kinds([{ ...theirs, state }], [{ ...ours, status: 'failed' }]), ['status'], state)
  for (const status of ['pending', 'submitted', 'processing'] as const)
    t.deepEqual(kinds([theirs], [{ ...ours, status }]), [], status)
})

test('a contradiction a person has dealt with is told no more, another amount still is', (t) => {
  const dealtWith = { ...ours, dealtWith: true }
  t.deepEqual(kinds([{ ...theirs, state: 'returned' }], [dealtWith]), [])
  t.deepEqual(kinds([{ ...theirs, state: 'returned', amountKobo: 1n }], [dealtWith]), ['amount'])
})
