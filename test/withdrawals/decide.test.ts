import test from 'ava'
import fc from 'fast-check'
import { stepsBetween } from '../../src/kernel/state-machine.js'
import { type DecisionInput, decide } from '../../src/outgoing/decide.js'
import { type OutgoingStatus, outgoingStatuses, providerSteps } from '../../src/outgoing/lifecycle.js'
import type { ProviderTransfer, TransferState } from '../../src/ports/payouts.js'

const rules = { deduplicates: true, settleSeconds: 900 }
const unknown: DecisionInput = {
  status: 'pending',
  sendState: 'unknown',
  sends: 1,
  netKobo: 5000n,
  providerReference: 'fiatpay-1',
  sinceSent: 10,
  isResolved: false,
  recreditedAt: null,
}
const transfer = (state: TransferState, change: Partial<ProviderTransfer> = {}): ProviderTransfer => ({
  id: 'TRF_1',
  reference: 'fiatpay-1',
  amountKobo: 5000n,
  feeKobo: 0n,
  currency: 'NGN',
  state,
  reason: null,
  ...change,
})
const states: TransferState[] = ['accepted', 'started', 'paid', 'failed', 'returned']

test('a withdrawal advances to the state of the transfer that the provider finds', (t) => {
  for (const [state, to] of [
    ['accepted', 'submitted'],
    ['started', 'processing'],
    ['paid', 'completed'],
    ['failed', 'failed'],
    ['returned', 'failed'],
  ] as const)
    for (const sendState of ['sending', 'unknown', 'manual_review'] as const)
      t.deepEqual(decide({ ...unknown, sendState }, transfer(state), rules), { kind: 'advance', to })
})

test('no sequence of answers moves a withdrawal back or out of a final status', (t) => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...states), { maxLength: 12 }), (seen) => {
      let status: OutgoingStatus = 'pending'
      const visited: OutgoingStatus[] = [status]
      for (const state of seen) {
        const decision = decide({ ...unknown, status, sendState: 'sent' }, transfer(state), rules)
        if (decision.kind !== 'advance') continue
        for (const step of stepsBetween(providerSteps, status, decision.to)) {
          if (step.from !== status) return false
          status = step.to
          visited.push(status)
        }
        if (status !== decision.to) return false
      }
      return new Set(visited).size === visited.length
    }),
  )
  t.pass()
})

test('a transfer with another amount, currency or reference opens a review and completes nothing', (t) => {
  for (const change of [{ amountKobo: 5001n }, { currency: 'USD' }, { reference: 'fiatpay-2' }])
    for (const status of outgoingStatuses)
      t.deepEqual(decide({ ...unknown, status }, transfer('paid', change), rules), {
        kind: 'review',
        review: 'mismatch',
        hold: true,
      })
})

test('money that comes back after completion, or leaves after a failure, opens a review and changes no status', (t) => {
  for (const [state, review] of [
    ['returned', 'reversed'],
    ['failed', 'failed_after_completed'],
  ] as const)
    t.deepEqual(decide({ ...unknown, status: 'completed', sendState: 'sent' }, transfer(state), rules), {
      kind: 'review',
      review,
      hold: false,
    })
  t.deepEqual(decide({ ...unknown, status: 'failed', sendState: 'refused' }, transfer('paid'), rules), {
    kind: 'review',
    review: 'paid_after_failed',
    hold: false,
  })
})

test('a provider that shows a completed withdrawal under way says nothing new', (t) => {
  for (const state of ['accepted', 'started'] as const)
    t.deepEqual(decide({ ...unknown, status: 'completed', sendState: 'sent' }, transfer(state), rules), {
      kind: 'none',
    })
})

test('after a re-credit only money that is on its way again opens a review', (t) => {
  const recredited = {
    ...unknown,
    status: 'completed',
    sendState: 'sent',
    recreditedAt: new Date(),
  } as const
  for (const state of ['accepted', 'started', 'paid'] as const)
    t.deepEqual(decide(recredited, transfer(state), rules), {
      kind: 'review',
      review: 'paid_after_recredit',
      hold: false,
    })
  for (const state of ['failed', 'returned'] as const)
    t.like(decide(recredited, transfer(state), rules), { kind: 'agree' })
  t.is(decide(recredited, undefined, rules).kind, 'none')
})

test('money that came back ends a settled review of it, also when the provider shows another amount', (t) => {
  const other = { amountKobo: 4000n }
  const recredited = { ...unknown, status: 'completed', sendState: 'sent', recreditedAt: new Date() } as const
  const failed = { ...unknown, status: 'failed', sendState: 'sent' } as const
  for (const state of ['failed', 'returned'] as const) {
    t.deepEqual(decide(recredited, transfer(state, other), rules), {
      kind: 'agree',
      outdated: ['paid_after_recredit'],
    })
    t.deepEqual(decide(failed, transfer(state, other), rules), {
      kind: 'agree',
      outdated: ['paid_after_failed'],
    })
  }
  t.like(decide(recredited, transfer('paid', other), rules), { review: 'paid_after_recredit' })
  t.like(decide(failed, transfer('paid', other), rules), { review: 'mismatch' })
})

test('an amount that an operator has resolved is no mismatch any more', (t) => {
  const resolved = { ...unknown, status: 'completed', sendState: 'sent', isResolved: true } as const
  t.is(decide(resolved, transfer('paid', { amountKobo: 1n }), rules).kind, 'agree')
  t.like(decide(resolved, transfer('returned', { amountKobo: 1n }), rules), { review: 'reversed' })
})

test('a transfer that is not found is sent again only after the settle window, at most three times', (t) => {
  for (const sendState of ['sending', 'unknown'] as const) {
    const sent = { ...unknown, sendState }
    t.is(decide({ ...sent, sinceSent: null }, undefined, { ...rules, settleSeconds: 1 }).kind, 'poll-again')
    t.is(decide({ ...sent, sinceSent: 899 }, undefined, rules).kind, 'poll-again')
    t.is(decide({ ...sent, sinceSent: 900 }, undefined, rules).kind, 'resend')
    t.is(decide({ ...sent, sinceSent: 900, sends: 2 }, undefined, rules).kind, 'resend')
    t.deepEqual(decide({ ...sent, sinceSent: 900, sends: 3 }, undefined, rules), {
      kind: 'review',
      review: 'unknown',
      hold: true,
    })
  }
})

test('a payout is never sent again to a provider that does not document deduplication', (t) => {
  const careful = { ...rules, deduplicates: false }
  for (const sinceSent of [900, 1e9])
    for (const sends of [1, 2, 3])
      t.is(decide({ ...unknown, sinceSent, sends }, undefined, careful).kind, 'review')
  const reviewed = { ...unknown, sendState: 'manual_review', sinceSent: 1e9 } as const
  t.is(decide(reviewed, undefined, rules).kind, 'poll-again', 'a person decides')
})

test('an accepted payout is never sent again: not found after the settle window it waits for a person', (t) => {
  const missed = { kind: 'review', review: 'unknown', hold: false } as const
  for (const status of ['submitted', 'processing'] as const) {
    const accepted = { ...unknown, status, sendState: 'sent' } as const
    t.is(decide({ ...accepted, sinceSent: 899 }, undefined, rules).kind, 'poll-again')
    for (const sinceSent of [900, 1e9, null])
      t.deepEqual(decide({ ...accepted, sinceSent }, undefined, rules), missed)
  }
  for (const status of ['completed', 'failed'] as const)
    t.is(decide({ ...unknown, status, sendState: 'sent', sinceSent: 1e9 }, undefined, rules).kind, 'none')
})

test('a withdrawal passes through every status between on the way that the provider shows', (t) => {
  const ways: Partial<Record<`${OutgoingStatus} ${OutgoingStatus}`, readonly OutgoingStatus[]>> = {
    'pending submitted': ['submitted'],
    'pending processing': ['submitted', 'processing'],
    'pending completed': ['submitted', 'processing', 'completed'],
    'pending failed': ['submitted', 'failed'],
    'submitted processing': ['processing'],
    'submitted completed': ['processing', 'completed'],
    'submitted failed': ['failed'],
    'processing completed': ['completed'],
    'processing failed': ['failed'],
  }
  for (const from of outgoingStatuses)
    for (const to of outgoingStatuses) {
      const way = stepsBetween(providerSteps, from, to).map((step) => step.to)
      t.deepEqual(way, [...(ways[`${from} ${to}`] ?? [])], `${from} > ${to}`)
    }
})
