import test from 'ava'
import fc from 'fast-check'
import { parseSite } from '../../src/creators/sites.js'
import { retryPauseMs } from '../../src/pages/dashboard/connection.js'
import { parseTypedSite } from '../../src/pages/dashboard/developers/site.js'
import { exactAmount, prepareFault, stageOf } from '../../src/pages/dashboard/take-out/transfer.js'
import {
  estimateRefund,
  givenBack,
  isRefundable,
  leftKobo,
  refundKobo,
} from '../../src/pages/dashboard/tips/refund-amounts.js'
import {
  advanceFlow,
  emptyDraft,
  type Flow,
  type FlowEvent,
  initialFlow,
  isUnresolved,
  type SentWithdrawal,
} from '../../src/pages/dashboard/withdraw/flow.js'
import { bodyOf, estimate, faultOf, type Terms } from '../../src/pages/dashboard/withdraw/rules.js'
import { words } from '../../src/pages/i18n/dashboard.js'
import { typedTokenAmount } from '../../src/pages/lib/amount-text.js'
import { isPassing, isUnanswered } from '../../src/pages/lib/failures.js'
import { paidWords } from '../../src/pages/lib/tip-text.js'
import { TippingError } from '../../src/sdk/client/errors.js'
import { expectedPrice } from '../helpers/make/withdrawal-price.js'
import { seededRuns } from '../helpers/random.js'

test('unpaid words: a page shows the name and message of a tip only once it is paid', (t) => {
  const tip = { sender: 'Ada', message: 'hello' }
  t.deepEqual(paidWords({ ...tip, status: 'confirmed' }), tip)
  for (const status of ['pending', 'failed', 'cancelled'])
    t.deepEqual(paidWords({ ...tip, status }), { sender: '', message: null })
})

const terms: Terms = {
  leastFeeNgn: 50,
  feeBps: 100,
  minNgn: 100,
  identitySingleNgn: 200_000,
  identityDailyNgn: 500_000,
}
const draft = {
  ...emptyDraft,
  amount: '20',
  bankCode: '058',
  accountNumber: '0123456789',
  accountName: 'ADA OBI',
}
const sent: SentWithdrawal = { key: 'k', body: bodyOf(draft), draft, at: 1000 }

test('a withdrawal that was sent is given up only after an answer that means that nothing is reserved', (t) => {
  const sending: Flow = { step: 'sending', sent }
  const after = (code: string) => advanceFlow(sending, { type: 'failed', code, reason: 'words' })
  for (const code of [
    'network',
    'bad_answer',
    'internal_error',
    'service_unavailable',
    'unauthorized',
    'request_in_progress',
    'anything',
  ])
    t.deepEqual(after(code), { step: 'checking', sent }, code)
  t.deepEqual(after('payout_refused'), { step: 'refused', draft, reason: 'words' })
  t.like(after('insufficient_balance'), { step: 'amount', fault: 'insufficient_balance', draft })
  t.like(after('bank_details_required'), { step: 'bank' })
  t.like(after('rate_unavailable'), { step: 'review' })
})

test('while the outcome is unknown, no action of the user changes the withdrawal that was sent', (t) => {
  const byPerson = fc.constantFrom<FlowEvent>(
    { type: 'completed-step', step: 'amount', draft: emptyDraft },
    { type: 'completed-step', step: 'bank', draft: emptyDraft },
    { type: 'back' },
    { type: 'edited', draft: emptyDraft },
    { type: 'navigated', step: 'amount' },
    { type: 'change-account' },
    { type: 'restart' },
    { type: 'confirmed', sent: { ...sent, key: 'another' } },
    { type: 'failed', code: 'network', reason: '' },
  )
  fc.assert(
    fc.property(fc.array(byPerson), (events) => {
      const flow = events.reduce<Flow>(advanceFlow, { step: 'checking', sent })
      t.true(isUnresolved(flow) && flow.sent === sent)
    }),
    seededRuns(t),
  )
})

test('a reload, Back and Forward show the step of the entry with its draft, as far as it is complete', (t) => {
  const reached = [
    ['amount', draft, 'amount'],
    ['bank', draft, 'bank'],
    ['review', draft, 'review'],
    ['review', { ...draft, accountName: '' }, 'bank'],
    ['review', { ...draft, accountNumber: '012345678' }, 'bank'],
    ['review', { ...draft, amount: '1,000' }, 'amount'],
    ['bank', emptyDraft, 'amount'],
  ] as const
  for (const [step, kept, expected] of reached) {
    t.deepEqual(initialFlow({ draft: kept, step }, 0), { step: expected, draft: kept })
    const elsewhere = advanceFlow({ step: 'amount', draft: kept }, { type: 'navigated', step })
    t.deepEqual(elsewhere, { step: expected, draft: kept })
  }
  const fault: Flow = { step: 'bank', draft, fault: 'bank_details_required' }
  t.is(advanceFlow(fault, { type: 'navigated', step: 'bank' }), fault)
  t.deepEqual(advanceFlow(fault, { type: 'edited', draft: emptyDraft }), { step: 'bank', draft: emptyDraft })
  const refused: Flow = { step: 'refused', draft, reason: 'words' }
  t.is(advanceFlow(refused, { type: 'navigated', step: 'review' }), refused)
  t.deepEqual(advanceFlow(refused, { type: 'navigated', step: 'bank' }), { step: 'bank', draft })
})

test('the estimate of a withdrawal equals what the service computes', (t) => {
  const amounts = fc.integer({ min: 1, max: 2_000_000_00 })
  fc.assert(
    fc.property(
      amounts,
      fc.constantFrom('USDC', 'NGN'),
      fc.integer({ min: 100, max: 300_000 }),
      (cents, currency, rateCents) => {
        const amount = (cents / 100).toFixed(2)
        const expected = estimate({ currency, amount }, rateCents / 100, terms)
        const real = expectedPrice(currency, amount, rateCents)
        t.truthy(expected)
        if (expected === undefined) return
        // Binary numbers may round half a kobo the other way; the service's result is the real one.
        t.true(Math.abs(expected.netNgn - real.netNgn) < 0.015, `${expected.netNgn} ${real.netNgn}`)
        t.true(Math.abs(expected.usdc - real.usdc) < 0.000_002, `${expected.usdc} ${real.usdc}`)
      },
    ),
    seededRuns(t),
  )
})

test('amounts are sent as typed, and invalid ones are refused before sending', (t) => {
  for (const [amount, expected] of [
    ['$ 1,200.50', 1200.5],
    ['1,5', 1.5],
    ['1,50', 1.5],
  ] as const)
    t.is(bodyOf({ ...draft, amount }).amountUSDC, expected, amount)
  const fault = (currency: 'USDC' | 'NGN', amount: string) => faultOf({ currency, amount }, 1600, 10, terms)
  t.is(fault('USDC', '10'), undefined)
  t.is(fault('USDC', '10.000001'), 'insufficient_balance')
  t.is(fault('NGN', '16000'), undefined)
  t.is(fault('NGN', '16000.01'), 'insufficient_balance')
  t.is(fault('NGN', '149'), 'amount_too_small')
  t.is(fault('NGN', 'x'), 'invalid_amount')
  t.is(fault('NGN', '0'), 'invalid_amount')
  for (const amount of ['1,000', '1.000']) t.is(fault('USDC', amount), 'unclear_number')
  t.is(fault('NGN', '₦1,000'), undefined, 'a comma groups naira')
  t.is(fault('USDC', '₦5'), 'other_currency')
  t.is(fault('NGN', '$5'), 'other_currency')
  t.is(fault('NGN', '1.000'), 'unclear_number')
  t.deepEqual(sent.body, {
    amountUSDC: 20,
    bankCode: '058',
    accountNumber: '0123456789',
    accountName: 'ADA OBI',
  })
})

test('failures that pass are repeated after growing pauses, and refusals are not', (t) => {
  const failure = (code: string, status: number) => new TippingError('text', code, status)
  for (const [code, status] of [
    ['network', 0],
    ['bad_answer', 404],
    ['too_many_requests', 429],
    ['internal_error', 500],
    ['service_unavailable', 503],
    ['rate_unavailable', 503],
  ] as const)
    t.true(isPassing(failure(code, status)), code)
  for (const [code, status] of [
    ['unauthorized', 401],
    ['invalid_settings', 400],
    ['request_in_progress', 409],
    ['payment_refused', 502],
  ] as const)
    t.false(isPassing(failure(code, status)), code)
  t.false(isPassing(new Error('bug')))
  t.true(isUnanswered(failure('service_unavailable', 503)))
  t.false(isUnanswered(failure('too_many_requests', 429)), 'the service answered')
  t.deepEqual([1, 2, 3, 4, 5, 50].map(retryPauseMs), [2000, 4000, 8000, 16_000, 30_000, 30_000])
})

test('a site that the page accepts is accepted by the service in the same form', (t) => {
  for (const [text, site] of [
    ['example.com', 'example.com'],
    [' https://Shop.Example:8443/pay?x=1#y ', 'shop.example:8443'],
    ['*.sites.example', '*.sites.example'],
    ['münchen.example', 'xn--mnchen-3ya.example'],
    ['localhost', 'localhost'],
    ['example.com.', 'example.com'],
    ['*', undefined],
    ['*.com', undefined],
    ['a b', undefined],
    ['user@example.com', undefined],
    ['exa_mple!.com', undefined],
    ['example.com:99999', undefined],
    ['', undefined],
  ] as const) {
    t.is(parseTypedSite(text), site, text)
    if (site !== undefined) t.is(parseSite(site), site)
  }
})

test('a take-out is followed by its record, then by what the network shows of it', (t) => {
  const at = Date.parse('2026-11-22T12:00:00Z')
  const transfer = { expiresAt: new Date(at).toISOString(), signedAt: null }
  const prepared = { ...transfer, status: 'prepared' } as const
  const signed = { ...transfer, status: 'signed', signedAt: transfer.expiresAt } as const
  t.is(stageOf(prepared, undefined, at - 1), 'sign')
  t.is(stageOf(prepared, undefined, at), 'unsigned')
  t.is(stageOf(signed, undefined, at - 1), 'sending')
  t.is(stageOf(signed, 'none', at + 30_000), 'sending')
  t.is(stageOf(signed, 'none', at + 30_001), 'late')
  t.is(stageOf(signed, 'landed', at + 3_600_000), 'landed')
  t.is(stageOf(signed, 'failed', at), 'failed')
  for (const status of ['final', 'failed'] as const) t.is(stageOf({ ...signed, status }, 'none', at), status)
  t.is(stageOf({ ...signed, status: 'expired' }, 'none', at), 'returned')
  t.is(stageOf({ ...prepared, status: 'expired' }, undefined, at), 'unsigned')
})

test('amounts of tokens are exact, and never guessed', (t) => {
  for (const [text, amount] of [
    ['1,500.25', '1500.25'],
    ['0.123456789', '0.123456789'],
    ['0,5', '0.5'],
    ['007.10', '7.1'],
    [' 12 ', '12'],
    ['1,000', 'unclear'],
    ['0', undefined],
    ['0.000', undefined],
    ['$5', undefined],
    ['-1', undefined],
    ['1e3', undefined],
    ['', undefined],
  ] as const)
    t.is(typedTokenAmount(text), amount, text)
  t.is(exactAmount({ amount: '1234567.000000001', tokenSymbol: 'SOL' }), '1,234,567.000000001 SOL')
  const details = [{ field: 'amount', problem: 'is above the 1 SOL that can be taken out' }]
  const refusal = new TippingError('Insufficient Balance', 'insufficient_balance', 400, undefined, details)
  t.is(prepareFault(refusal), 'This amount is above the 1 SOL that can be taken out.')
  t.is(prepareFault(new TippingError('', 'owes_money', 409)), words.fault('owes_money'))
})

test('a refund is at most what is left of a paid naira tip that nobody disputes', (t) => {
  const tip = {
    status: 'confirmed',
    amount: 10,
    receivedAmount: 9.5,
    fiatDetails: { platformFee: 0.5, finalAmountUsd: 9.5, amountNgn: 15_200 },
  } as const
  t.true(isRefundable(tip))
  for (const change of [
    { status: 'pending' },
    { fiatDetails: null },
    { disputed: true },
    { refundedAmount: 10 },
  ] as const)
    t.false(isRefundable({ ...tip, ...change }), JSON.stringify(change))
  for (const text of ['5,000', '₦5000', '5000.00']) t.is(refundKobo(text, 500_000), 500_000, text)
  t.is(refundKobo('5000.01', 500_000), 'refund_too_much')
  for (const text of ['', '0', 'all', '$5', '1.005']) t.is(refundKobo(text, 500_000), 'invalid_number', text)
  t.is(estimateRefund(tip, 1_520_000), 9.5)
  t.is(estimateRefund(tip, 506_160), 3.1635)
  const given = { amountUSD: 3.29, amountNGN: 5000, status: 'paid' } as const
  t.is(leftKobo({ ...tip, refundedAmount: 3.29 }, [given, { ...given, status: 'failed' }]), 1_020_000)
  t.is(leftKobo({ ...tip, refundedAmount: 5 }, []), 760_000, 'what went back otherwise is estimated')
  const refund = { amountUSD: 0.1, status: 'paid' } as const
  t.is(givenBack([refund, { ...refund, amountUSD: 0.2 }, { ...refund, status: 'failed' }]), 0.3)
})
