import test from 'ava'
import fc from 'fast-check'
import type { z } from 'zod'
import type * as accounts from '../../src/accounts/schemas.js'
import { normaliseSite } from '../../src/creators/parse-site.js'
import type * as creators from '../../src/creators/schemas.js'
import type * as answers from '../../src/pages/dashboard/answers.js'
import { siteOf } from '../../src/pages/dashboard/developers/site.js'
import { barsOf, scaleTop } from '../../src/pages/dashboard/home/chart-scale.js'
import { readFilters, tipsPath, writeFilters } from '../../src/pages/dashboard/tips/filters.js'
import {
  bodyOf,
  estimate,
  faultOf,
  looksAlike,
  type Terms,
} from '../../src/pages/dashboard/withdraw/amounts.js'
import {
  advance,
  emptyDraft,
  type Flow,
  type FlowEvent,
  isUnderway,
  type Sent,
  startOf,
} from '../../src/pages/dashboard/withdraw/flow.js'
import { words } from '../../src/pages/i18n/dashboard.js'
import { spokenUsd } from '../../src/pages/lib/tip-text.js'
import type * as tips from '../../src/tips/read/creator-schemas.js'
import type * as payouts from '../../src/withdrawals/schemas.js'
import { seeded } from '../helpers/seed.js'
import { feeOf } from '../helpers/withdrawal-fee.js'

// What the service answers is what the dashboard reads: checked by the compiler.
type Covers<Answer extends Read, Read> = Answer
export type Checked = [
  Covers<z.output<typeof accounts.meAnswer>['user'], answers.Me>,
  Covers<z.output<typeof tips.creatorTipsAnswer>, answers.TipsPage>,
  Covers<z.output<typeof tips.dailyAnswer>['days'][number], answers.Day>,
  Covers<z.output<typeof creators.keysAnswer>['apiKeys'][number], answers.ApiKey>,
  Covers<z.output<typeof creators.newKeyAnswer>, answers.NewApiKey>,
  Covers<creators.CreatorProfile, answers.Profile>,
  Covers<payouts.PayoutRecord, answers.Payout>,
  Covers<payouts.WithdrawAnswer, answers.Granted>,
  Covers<z.output<typeof payouts.banksAnswer>['banks'][number], answers.Bank>,
]

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
const sent: Sent = { key: 'k', body: bodyOf(draft), draft, at: 1000 }
const granted = {
  reference: 'FIATPAY-1',
  status: 'submitted',
  amountNGN: 1,
  systemFeeNGN: 1,
  requiresVerification: false,
} as const

test('four steps lead to a withdrawal, and back until it is confirmed', (t) => {
  const steps: [FlowEvent, Flow['step']][] = [
    [{ type: 'said', step: 'amount', draft }, 'bank'],
    [{ type: 'said', step: 'bank', draft }, 'review'],
    [{ type: 'back' }, 'bank'],
    [{ type: 'back' }, 'amount'],
    [{ type: 'said', step: 'amount', draft }, 'bank'],
    [{ type: 'said', step: 'bank', draft }, 'review'],
    [{ type: 'confirmed', sent }, 'sending'],
    [{ type: 'back' }, 'sending'],
    [{ type: 'restart' }, 'sending'],
    [{ type: 'answered', granted }, 'granted'],
    [{ type: 'restart' }, 'amount'],
  ]
  let flow = startOf(undefined, 0)
  for (const [event, step] of steps) {
    flow = advance(flow, event)
    t.is(flow.step, step, event.type)
  }
})

test('only an answer that says that nothing is reserved leads away from a withdrawal that was sent', (t) => {
  const sending: Flow = { step: 'sending', sent }
  const after = (code: string) => advance(sending, { type: 'failed', code, reason: 'words' })
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

test('while nothing certain is known, nothing that a person does changes what is asked', (t) => {
  const byPerson = fc.constantFrom<FlowEvent>(
    { type: 'said', step: 'amount', draft: emptyDraft },
    { type: 'said', step: 'bank', draft: emptyDraft },
    { type: 'back' },
    { type: 'again' },
    { type: 'restart' },
    { type: 'confirmed', sent: { ...sent, key: 'another' } },
    { type: 'failed', code: 'network', reason: '' },
  )
  fc.assert(
    fc.property(fc.array(byPerson), (events) => {
      const flow = events.reduce<Flow>(advance, { step: 'checking', sent })
      t.true(isUnderway(flow) && flow.sent === sent)
    }),
    seeded(t),
  )
})

test('what was sent lately is asked for again after a reload; what is old is looked for by its maker', (t) => {
  t.deepEqual(startOf(sent, sent.at + 599_000), { step: 'checking', sent })
  t.like(startOf(sent, sent.at + 600_000), { step: 'amount', fault: 'withdrawal_unknown' })
})

test('what is expected of a withdrawal is what the service makes of it', (t) => {
  const amounts = fc.integer({ min: 1, max: 2_000_000_00 })
  fc.assert(
    fc.property(
      amounts,
      fc.constantFrom('USDC', 'NGN'),
      fc.integer({ min: 100, max: 300_000 }),
      (cents, currency, rateCents) => {
        const amount = (cents / 100).toFixed(2)
        const expected = estimate({ currency, amount }, rateCents / 100, terms)
        const real = feeOf(currency, amount, rateCents)
        t.truthy(expected)
        if (expected === undefined) return
        // Halves of a kobo may fall to the other side in binary numbers; the service's answer is what counts.
        t.true(Math.abs(expected.netNgn - real.netNgn) < 0.015, `${expected.netNgn} ${real.netNgn}`)
        t.true(Math.abs(expected.usdc - real.usdc) < 0.000_002, `${expected.usdc} ${real.usdc}`)
      },
    ),
    seeded(t),
  )
})

test('amounts are asked as they were typed, and refused before they are sent', (t) => {
  for (const [amount, asked] of [
    ['$ 1,200.50', 1200.5],
    ['1,5', 1.5],
    ['1,50', 1.5],
  ] as const)
    t.is(bodyOf({ ...draft, amount }).amountUSDC, asked, amount)
  const fault = (currency: 'USDC' | 'NGN', amount: string) => faultOf({ currency, amount }, 1600, 10, terms)
  t.is(fault('USDC', '10'), undefined)
  t.is(fault('USDC', '10.000001'), 'insufficient_balance')
  t.is(fault('NGN', '16000'), undefined)
  t.is(fault('NGN', '16000.01'), 'insufficient_balance')
  t.is(fault('NGN', '149'), 'amount_too_small')
  t.is(fault('NGN', 'x'), 'invalid_amount')
  t.is(fault('NGN', '0'), 'invalid_amount')
  for (const amount of ['1,000', '1.000']) t.is(fault('NGN', amount), 'unclear_number')
  t.deepEqual(sent.body, {
    amountUSDC: 20,
    bankCode: '058',
    accountNumber: '0123456789',
    accountName: 'ADA OBI',
  })
})

test('no setting promises the supporter a fee that somebody else pays', (t) => {
  t.regex(words.settings.gasless, /bundles/)
  t.regex(words.settings.gasless, /Supporters still pay the network fee/)
})

test('a name at a bank is compared by its words', (t) => {
  t.true(looksAlike('OBI ADA CHIAMAKA', 'Ada Obi'))
  t.true(looksAlike('ADÉ OLÚ', 'Ade Olu'))
  t.true(looksAlike('ADA CHIAMAKA OBI', 'Ada Lovelace'))
  t.false(looksAlike('SANDBOX ACCOUNT', 'Ada Obi'))
  t.false(looksAlike('', 'Ada'))
  t.false(looksAlike('A B', ''))
})

test('a chart is as high as its highest bar needs, in round numbers', (t) => {
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
    seeded(t),
  )
})

test('filters survive the address, and nonsense in it filters nothing', (t) => {
  const filters = { token: 'SOL', status: 'confirmed', days: '7', q: 'a&b=c' }
  t.deepEqual(readFilters(writeFilters(filters)), filters)
  t.deepEqual(readFilters(new URLSearchParams('token=<x>&status=1&days=-1')), {
    token: '',
    status: '',
    days: '',
    q: '',
  })
  const now = Date.parse('2026-11-21T12:00:00Z')
  t.is(
    tipsPath(filters, now, 'next'),
    '/creators/tips?limit=50&token=SOL&status=confirmed&q=a%26b%3Dc&from=2026-11-14&cursor=next',
  )
})

test('a site that the page takes is one that the service takes, in the same form', (t) => {
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
    t.is(siteOf(text), site, text)
    if (site !== undefined) t.is(normaliseSite(site), site)
  }
})

test('amounts are said as people say them', (t) => {
  t.is(spokenUsd(5), '5 dollars')
  t.is(spokenUsd(1.01), '1 dollar 1 cent')
  t.is(spokenUsd(0.5), '50 cents')
  t.is(spokenUsd(0), '0 dollars')
})
