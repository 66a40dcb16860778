import test from 'ava'
import fc from 'fast-check'
import { parseSite } from '../../src/creators/sites.js'
import { retryPauseMs } from '../../src/pages/dashboard/connection.js'
import { parseTypedSite } from '../../src/pages/dashboard/developers/site.js'
import { barsOf, scaleTop } from '../../src/pages/dashboard/home/chart-scale.js'
import { exactAmount, prepareFault, stageOf } from '../../src/pages/dashboard/take-out/transfer.js'
import { readFilters, tipsPath, writeFilters } from '../../src/pages/dashboard/tips/filters.js'
import {
  estimateRefund,
  givenBack,
  isRefundable,
  refundCents,
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
import {
  bodyOf,
  estimate,
  faultOf,
  lastDigits,
  matchingBanks,
  namesMatch,
  promisedMore,
  type Terms,
  withdrawnTexts,
} from '../../src/pages/dashboard/withdraw/rules.js'
import { words } from '../../src/pages/i18n/dashboard.js'
import { typedTokenAmount } from '../../src/pages/lib/amount-text.js'
import { isPassing, isUnanswered } from '../../src/pages/lib/failures.js'
import { aboutNgn } from '../../src/pages/lib/money.js'
import { paidWords, spokenUsd } from '../../src/pages/lib/tip-text.js'
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
const answer = {
  reference: 'FIATPAY-1',
  status: 'submitted',
  amountNGN: 1,
  systemFeeNGN: 1,
  requiresVerification: false,
} as const

test('a withdrawal goes through its steps, and back until it is confirmed', (t) => {
  const steps: [FlowEvent, Flow['step']][] = [
    [{ type: 'completed-step', step: 'amount', draft }, 'bank'],
    [{ type: 'completed-step', step: 'bank', draft }, 'review'],
    [{ type: 'back' }, 'bank'],
    [{ type: 'back' }, 'amount'],
    [{ type: 'completed-step', step: 'amount', draft }, 'bank'],
    [{ type: 'completed-step', step: 'bank', draft }, 'review'],
    [{ type: 'confirmed', sent }, 'sending'],
    [{ type: 'back' }, 'sending'],
    [{ type: 'restart' }, 'sending'],
    [{ type: 'answered', answer }, 'accepted'],
    [{ type: 'restart' }, 'amount'],
  ]
  let flow = initialFlow({}, 0)
  for (const [event, step] of steps) {
    flow = advanceFlow(flow, event)
    t.is(flow.step, step, event.type)
  }
})

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

test('a reload repeats a recent withdrawal; for an old one it shows a warning', (t) => {
  t.deepEqual(initialFlow({ sent }, sent.at + 599_000), { step: 'checking', sent })
  t.deepEqual(initialFlow({ sent, draft, step: 'review' }, sent.at + 600_000), {
    step: 'amount',
    draft: emptyDraft,
    fault: 'withdrawal_unknown',
  })
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

test('the review names one amount to withdraw, and both limits above which it waits', (t) => {
  const expected = estimate(draft, 1600, terms)
  t.like(expected, { usdc: 20, grossNgn: 32_000, netNgn: 31_680 })
  if (expected === undefined) return
  t.deepEqual(withdrawnTexts({ currency: 'USDC' }, expected), ['$20.00', '₦32,000.00'])
  t.deepEqual(withdrawnTexts({ currency: 'NGN' }, expected), ['₦32,000.00', '$20.00'])
  t.regex(words.review.held('₦2', '₦5'), /^Above ₦2, or ₦5 together within 24 hours, we verify you once/)
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

test('an account used before is named by its withdrawal, and its details are not sent', (t) => {
  const used = { ...draft, accountNumber: '******6789', bankAccountOf: 'FIATPAY-1' }
  t.deepEqual(bodyOf(used), { amountUSDC: 20, bankAccountOf: 'FIATPAY-1' })
  t.deepEqual(bodyOf({ ...draft, bankAccountOf: '' }), bodyOf(draft))
  t.deepEqual([lastDigits('******6789'), lastDigits('0123456789')], ['••••6789', '••••6789'])
})

test('naira beside dollars are rounded down to the whole naira', (t) => {
  t.is(aboutNgn(19.999, 1600), '₦31,998')
  t.is(aboutNgn(0, 1600), '₦0')
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
  t.false([failure('unauthorized', 401), failure('invalid_settings', 400), new Error('bug')].some(isPassing))
  t.true(isUnanswered(failure('service_unavailable', 503)))
  t.false(isUnanswered(failure('too_many_requests', 429)), 'the service answered')
  t.deepEqual([1, 2, 3, 4, 5, 50].map(retryPauseMs), [2000, 4000, 8000, 16_000, 30_000, 30_000])
})

test('no text names what does not exist', (t) => {
  const texts = JSON.stringify(words)
  for (const wrong of [/share your link/i, /tip you by this name/i, /\(UTC\)/]) t.notRegex(texts, wrong)
})

test('the search for a bank finds it by its nickname', (t) => {
  const banks = [
    { code: '058', name: 'Guaranty Trust Bank', nicknames: ['GTB', 'GTBank'] },
    { code: '999992', name: 'OPay Digital Services Limited (OPay)', nicknames: ['O-Pay'] },
  ]
  const codes = (text: string) => matchingBanks(banks, text).map(({ code }) => code)
  t.deepEqual(['gtb', 'o-pay', 'trust  bank', 'uba', ''].map(codes), [
    ['058'],
    ['999992'],
    ['058'],
    [],
    ['058', '999992'],
  ])
})

test('the text of the gasless setting says that supporters pay the network fee', (t) => {
  t.regex(words.settings.gasless, /bundles/)
  t.regex(words.settings.gasless, /Supporters still pay the network fee/)
})

test("the account holder's name is compared by its words", (t) => {
  t.true(namesMatch('OBI ADA CHIAMAKA', 'Ada Obi'))
  t.true(namesMatch('ADÉ OLÚ', 'Ade Olu'))
  t.true(namesMatch('ADA CHIAMAKA OBI', 'Ada Lovelace'))
  t.false(namesMatch('SANDBOX ACCOUNT', 'Ada Obi'))
  t.false(namesMatch('', 'Ada'))
  t.false(namesMatch('A B', ''))
})

test("the chart's scale ends at the next round number, and every value has a visible bar", (t) => {
  for (const [most, top] of [
    [0, 1],
    [0.03, 0.03],
    [1, 1],
    [26.25, 30],
    [99, 100],
    [101, 200],
    [7100, 8000],
  ] as const)
    t.is(scaleTop(most), top)
  fc.assert(
    fc.property(
      fc.array(fc.double({ min: 0, max: 1e6, noNaN: true }), { minLength: 1, maxLength: 366 }),
      (values) => {
        const bars = barsOf(values, scaleTop(Math.max(...values)))
        t.is(bars.length, values.length)
        for (const [at, { x, width, height }] of bars.entries()) {
          t.true(x >= 0 && x + width <= 1 && height <= 1 + 1e-9)
          t.is(height > 0, (values[at] ?? 0) > 0)
        }
      },
    ),
    seededRuns(t),
  )
})

test('filters are written to the URL and read back, and unknown values are ignored', (t) => {
  const filters = { token: 'SOL', status: 'confirmed', days: '7', q: 'a&b=c' }
  t.deepEqual(readFilters(writeFilters(filters)), filters)
  t.deepEqual(readFilters(new URLSearchParams('token=<x>&status=1&days=-1')), {
    token: '',
    status: '',
    days: '',
    q: '',
  })
  const now = Date.parse('2026-11-21T12:00:00Z')
  // The viewer's midnight, not that of UTC.
  const midnight = new Date(now)
  midnight.setDate(midnight.getDate() - 7)
  midnight.setHours(0, 0, 0, 0)
  t.is(
    tipsPath(filters, now, 'next'),
    `/creators/tips?limit=50&token=SOL&status=confirmed&q=a%26b%3Dc&from=${encodeURIComponent(midnight.toISOString())}&cursor=next`,
  )
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

test('amounts are worded for screen readers', (t) => {
  t.is(spokenUsd(5), '5 dollars')
  t.is(spokenUsd(1.01), '1 dollar 1 cent')
  t.is(spokenUsd(0.5), '50 cents')
  t.is(spokenUsd(0), '0 dollars')
})

test('a withdrawal that sends less than was promised says so, in words', (t) => {
  const payout = { status: 'completed', amountNGN: 290_000, promisedNGN: 316_800 } as const
  t.true(promisedMore(payout))
  t.false(promisedMore({ ...payout, amountNGN: 316_800 }))
  t.false(promisedMore({ ...payout, status: 'failed' }))
  t.is(
    words.history.less('\u20a6316,800.00'),
    'Less than the \u20a6316,800.00 promised: the rate fell while we verified you.',
  )
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
  const rest = { ...tip, refundedAmount: 3.3 }
  t.is(refundCents('6.70', rest), 670)
  t.is(refundCents('6.71', rest), 'refund_too_much')
  for (const text of ['', '0', 'all', '₦5', '1.005']) t.is(refundCents(text, rest), 'invalid_number', text)
  t.deepEqual(estimateRefund(tip, 1000), { leavesUsd: 9.5, payerNgn: 15_200 })
  t.deepEqual(estimateRefund(tip, 333), { leavesUsd: 3.1635, payerNgn: 5061.6 })
  const refund = { amountUSD: 0.1, status: 'paid' } as const
  t.is(givenBack([refund, { ...refund, amountUSD: 0.2 }, { ...refund, status: 'failed' }]), 0.3)
})

test('every refusal of a take-out and of a refund has a text of its own', (t) => {
  const codes = [
    'payout_wallet_required',
    'owes_money',
    'transfer_in_progress',
    'transfer_would_fail',
    'transfer_expired',
    'transfer_not_found',
    'invalid_transaction',
    'account_frozen',
    'tip_not_found',
    'tip_not_in_naira',
    'tip_not_paid',
    'tip_disputed',
    'tip_refunded',
    'too_many_refunds',
    'refund_too_late',
    'insufficient_balance',
  ]
  for (const code of codes) t.not(words.fault(code), words.fault('unknown'), code)
})
