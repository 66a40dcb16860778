import test from 'ava'
import fc from 'fast-check'
import type { ProviderTransfer, TransferState } from '../../src/ports/payouts.js'
import { pathTo, type WithdrawalStatus, withdrawalLifecycle } from '../../src/withdrawals/lifecycle.js'
import { type DecisionInput, decide } from '../../src/withdrawals/reconcile/decide.js'

const rules = { deduplicates: true, settleSeconds: 900 }
const unknown: DecisionInput = {
  status: 'pending',
  sendState: 'unknown',
  sends: 1,
  netKobo: 5000n,
  providerReference: 'fiatpay-1',
  sinceSent: 10,
}
const transfer = (state: TransferState, change: Partial<ProviderTransfer> = {}): ProviderTransfer => ({
  id: 'TRF_1',
  reference: 'fiatpay-1',
  amountKobo: 5000n,
  currency: 'NGN',
  state,
  reason: null,
  ...change,
})
const statuses = Object.keys(withdrawalLifecycle.moves) as WithdrawalStatus[]
const states: TransferState[] = ['accepted', 'started', 'paid', 'failed', 'returned']

test('what the provider finds is where a withdrawal goes', (t) => {
  for (const [state, to] of [
    ['accepted', 'submitted'],
    ['started', 'processing'],
    ['paid', 'completed'],
    ['failed', 'failed'],
    ['returned', 'failed'],
  ] as const)
    for (const sendState of ['sending', 'unknown', 'manual_review'] as const)
      t.deepEqual(decide({ ...unknown, sendState }, transfer(state), rules), { kind: 'walk', to })
})

test('no order and no repetition of answers moves a withdrawal back or out of an end', (t) => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...states), { maxLength: 12 }), (seen) => {
      let status: WithdrawalStatus = 'pending'
      const visited: WithdrawalStatus[] = [status]
      for (const state of seen) {
        const ruling = decide({ ...unknown, status, sendState: 'sent' }, transfer(state), rules)
        if (ruling.kind !== 'walk') continue
        for (const next of pathTo(status, ruling.to)) {
          if (!withdrawalLifecycle.moves[status].includes(next)) return false
          status = next
          visited.push(status)
        }
        if (status !== ruling.to) return false
      }
      return new Set(visited).size === visited.length
    }),
  )
  t.pass()
})

test('another amount, currency or reference completes nothing and calls a person', (t) => {
  for (const change of [{ amountKobo: 5001n }, { currency: 'USD' }, { reference: 'fiatpay-2' }])
    for (const status of statuses)
      t.deepEqual(decide({ ...unknown, status }, transfer('paid', change), rules), {
        kind: 'review',
        review: 'mismatch',
        hold: true,
      })
})

test('money that comes back after completion moves nothing by itself', (t) => {
  for (const state of ['failed', 'returned'] as const)
    t.deepEqual(decide({ ...unknown, status: 'completed', sendState: 'sent' }, transfer(state), rules), {
      kind: 'review',
      review: 'reversed',
      hold: false,
    })
  t.deepEqual(decide({ ...unknown, status: 'failed', sendState: 'refused' }, transfer('paid'), rules), {
    kind: 'review',
    review: 'paid_after_failed',
    hold: false,
  })
})

test('not found proves nothing before the settle window is over', (t) => {
  for (const sendState of ['sending', 'unknown'] as const) {
    const known = { ...unknown, sendState }
    t.is(decide({ ...known, sinceSent: 899 }, undefined, rules).kind, 'ask-again')
    t.is(decide({ ...known, sinceSent: 900 }, undefined, rules).kind, 'resend')
    t.is(decide({ ...known, sinceSent: 900, sends: 2 }, undefined, rules).kind, 'resend')
    t.deepEqual(decide({ ...known, sinceSent: 900, sends: 3 }, undefined, rules), {
      kind: 'review',
      review: 'unknown',
      hold: true,
    })
  }
})

test('a provider that does not document deduplication is never sent the same payout again', (t) => {
  const careful = { ...rules, deduplicates: false }
  for (const sinceSent of [900, 1e9])
    for (const sends of [1, 2, 3])
      t.is(decide({ ...unknown, sinceSent, sends }, undefined, careful).kind, 'review')
})

test('what was accepted is never sent again, however long it is not found', (t) => {
  for (const status of statuses.filter((one) => one !== 'pending'))
    t.true(
      ['ask-again', 'nothing'].includes(
        decide({ ...unknown, status, sendState: 'sent', sinceSent: 1e9 }, undefined, rules).kind,
      ),
    )
})
