import test from 'ava'
import {
  approving,
  begin,
  eventsTo,
  intent,
  intentStatus,
  nairaTip,
  run,
  sent,
  session,
  wallet,
} from './checkout.js'

const payment = { intentId: 'pi_1', signature: 'sig' }

test('a successful tip goes from the form to done, and notifies the embedding page on the way', (t) => {
  const { state, messages } = run([
    ...sent,
    { type: 'payment-status', intent: intentStatus({ status: 'confirmed' }) },
  ])
  t.is(state.step.at, 'done')
  t.deepEqual(
    messages.map(({ type }) => type),
    ['tip.started', 'tip.submitted', 'tip.completed'],
  )
  t.like(messages[2], {
    amount: 0.033333333,
    tokenSymbol: 'SOL',
    amountUsd: 5,
    receivedAmount: 0.032666666,
    signature: 'sig',
  })
})

test('a session that cannot be read shows an expired link and notifies the embedding page', (t) => {
  const { state, messages } = run([{ type: 'session-over' }])
  t.is(state.step.at, 'session-over')
  t.deepEqual(messages, [{ type: 'tip.expired' }])
})

for (const [field, ok] of [
  ['1', true],
  ['500', true],
  ['$7.50', true],
  ['7,50', true],
  ['0.99', false],
  ['500.01', false],
  ['', false],
  ['five', false],
  ['1e3', false],
  ['5.001', false],
  ['-5', false],
] as const)
  test(`the amount "${field}" is ${ok ? '' : 'not '}accepted`, (t) => {
    const { state } = run([
      ...eventsTo.choose,
      { type: 'edited', form: { preset: 'other', other: field } },
      { type: 'submitted-form' },
    ])
    t.is(state.step.at, ok ? 'wallets' : 'choose')
    t.true(state.form.showFaults)
  })

for (const [fault, at] of [
  ['rejected', 'wallets'],
  ['busy', 'busy'],
  ['wrong-network', 'wrong-network'],
  ['disconnected', 'wallets'],
  ['failed', 'wallets'],
] as const)
  test(`connecting that fails as ${fault} leads to the step ${at}`, (t) => {
    const { state, messages } = run([...eventsTo.connecting, { type: 'pay-failed', fault, detail: 'x' }])
    t.is(state.step.at, at)
    t.is(messages.at(-1)?.type, 'tip.failed')
  })

for (const [fault, at] of [
  ['rejected', 'review'],
  ['busy', 'busy'],
  ['wrong-network', 'wrong-network'],
  ['disconnected', 'wallets'],
  ['insufficient', 'insufficient'],
  ['expired', 'quote-expired'],
  ['network', 'not-sent'],
  ['failed', 'not-sent'],
] as const)
  test(`paying that fails as ${fault} leads to the step ${at}`, (t) => {
    t.is(run([...approving, { type: 'pay-failed', fault, detail: 'x' }]).state.step.at, at)
  })

for (const [code, reason] of [
  ['no_route', 'no-route'],
  ['no_price', 'no-route'],
  ['amount_below_minimum', 'too-small'],
  ['price_unavailable', 'unavailable'],
  ['network', 'unavailable'],
] as const)
  test(`a price refused with ${code} has the reason ${reason}`, (t) => {
    t.like(run([...eventsTo.pricing, { type: 'price-failed', code }]).state.step, { at: 'no-price', reason })
  })

for (const [change, at] of [
  [{ status: 'confirmed' }, 'done'],
  [{ status: 'failed', outcome: 'tx_failed' }, 'failed-on-chain'],
  [{ status: 'failed', outcome: 'mismatch' }, 'mismatch'],
  [{ status: 'failed', outcome: 'not_found' }, 'not-landed'],
  [{ status: 'expired' }, 'not-landed'],
  [{ status: 'submitted' }, 'sent'],
  [{ status: 'requires_action' }, 'sent'],
] as const)
  test(`a payment with the status ${JSON.stringify(change)} leads to the step ${at}`, (t) => {
    t.is(run([...sent, { type: 'payment-status', intent: intentStatus(change) }]).state.step.at, at)
  })

test('a transaction that landed is not done before the service has confirmed it', (t) => {
  t.is(run([...sent, { type: 'landed', intentId: 'pi_1', failed: false }]).state.step.at, 'sent')
  t.is(run([...sent, { type: 'landed', intentId: 'pi_1', failed: true }]).state.step.at, 'failed-on-chain')
  t.is(run([...sent, { type: 'not-landed', intentId: 'pi_1' }]).state.step.at, 'not-landed')
})

test('an underpaid intent shows what arrived, and tells the embedding page', (t) => {
  const { state, messages } = run([
    ...sent,
    {
      type: 'payment-status',
      intent: intentStatus({ status: 'failed', outcome: 'underpaid', receivedAmount: 0.5 }),
    },
  ])
  t.like(state.step, { at: 'mismatch', received: '0.5 SOL' })
  t.like(messages.at(-1), { type: 'tip.failed', message: 'underpaid', retryable: false, receivedAmount: 0.5 })
})

test('a payment that was sent is shown and followed from every step', (t) => {
  const histories = [
    ...Object.values(eventsTo),
    approving,
    [...approving, { type: 'cancelled' }],
    [...approving, { type: 'tick', now: begin + 61_000 }],
    [...approving, { type: 'pay-failed', fault: 'rejected', detail: '' }],
  ]
  for (const events of histories) {
    const { state, commands } = run([...events, { type: 'sent', payment }])
    t.is(state.step.at, 'sent')
    t.true(commands.some((command) => command.do === 'watch-payment'))
    t.true(commands.some((command) => command.do === 'save'))
  }
})

test('results of earlier attempts change nothing', (t) => {
  const late = [
    { type: 'connected', attempt: 2, address: 'a', rightNetwork: true },
    { type: 'priced', attempt: 3, intent, balance: undefined },
    { type: 'price-failed', attempt: 3, code: 'no_route' },
    { type: 'pay-failed', attempt: 5, fault: 'failed', detail: '' },
    { type: 'naira-started', attempt: 5, tip: nairaTip },
  ]
  const { state } = run([...eventsTo.review, { type: 'start-over' }])
  for (const event of late) t.deepEqual(run([event], state).state, state)
})

test('statuses of other intents change nothing', (t) => {
  const { state } = run(sent)
  for (const event of [
    { type: 'payment-status', intent: intentStatus({ intentId: 'pi_2', status: 'confirmed' }) },
    { type: 'landed', intentId: 'pi_2', failed: true },
    { type: 'not-landed', intentId: 'pi_2' },
  ])
    t.deepEqual(run([event], state).state, state)
})

test('a price expires in the review and while the wallet asks for approval', (t) => {
  for (const events of [eventsTo.review, approving]) {
    t.not(run([...events, { type: 'tick', now: begin + 59_000 }]).state.step.at, 'quote-expired')
    const over = run([...events, { type: 'tick', now: begin + 60_000 }])
    t.is(over.state.step.at, 'quote-expired')
    t.is(run([{ type: 'retried' }], over.state).state.step.at, 'pricing')
  }
})

test('a balance that is too small is shown before the wallet is asked', (t) => {
  const stepWith = (balance: bigint) =>
    run([...eventsTo.pricing, { type: 'priced', intent, balance }]).state.step.at
  t.is(stepWith(33_333_333n), 'insufficient')
  t.is(stepWith(33_343_333n), 'review')
  t.is(run([...eventsTo.pricing, { type: 'priced', intent, balance: undefined }]).state.step.at, 'review')
})

test('a price impact above 5 % must be accepted', (t) => {
  const expensive = { ...intent, quote: { ...intent.quote, priceImpactPct: 5.1 } }
  const { state } = run([...eventsTo.pricing, { type: 'priced', intent: expensive, balance: undefined }])
  t.is(run([{ type: 'approved' }], state).state.step.at, 'review')
  t.is(
    run([{ type: 'accepted-impact', accepted: true }, { type: 'approved' }], state).state.step.at,
    'approving',
  )
})

test('a payment made in another window or on a phone is shown; a failed one is not', (t) => {
  const otherWindow = [...eventsTo.wallets, { type: 'open-window' }]
  const listed = (change: Parameters<typeof intentStatus>[0]) =>
    run([...otherWindow, { type: 'session-payments', intents: [intentStatus(change)] }]).state.step.at
  t.is(listed({ status: 'failed', outcome: 'tx_failed' }), 'other-window')
  t.is(listed({ status: 'requires_action' }), 'other-window')
  t.is(listed({ status: 'submitted' }), 'sent')
  t.is(listed({ status: 'confirmed' }), 'done')
  const phone = run([
    ...eventsTo.wallets,
    { type: 'use-phone' },
    { type: 'session-payments', intents: [intentStatus({ status: 'confirmed' })] },
  ])
  t.is(phone.state.step.at, 'done')
  t.is(phone.messages.at(-1)?.type, 'tip.completed')
})

test('a blocked window shows a link with a one-time code', (t) => {
  const { state, commands } = run([
    ...eventsTo.wallets,
    { type: 'open-window' },
    { type: 'popup', opened: false },
  ])
  t.is(state.step.at, 'blocked')
  t.deepEqual(commands.at(-1), { do: 'refresh-phone-links', cents: 500, mint: 'sol' })
  const links = { browser: 'https://x/#h=1', request: undefined }
  t.deepEqual(run([{ type: 'phone-links', links }], state).state.step, {
    at: 'blocked',
    link: 'https://x/#h=1',
  })
})

test('a payment under way stays visible when its session ends', (t) => {
  t.is(run([...sent, { type: 'session-over' }]).state.step.at, 'sent')
  t.is(run([...eventsTo.review, { type: 'session-over' }]).state.step.at, 'session-over')
})

test('a payment under way is resumed when the page is loaded again', (t) => {
  const { state, commands } = run([
    { type: 'resumed', payment },
    { type: 'loaded', session },
  ])
  t.is(state.step.at, 'sent')
  t.deepEqual(commands, [{ do: 'watch-payment', payment }])
})

const quote = { cents: 500, amountNgn: 7600, feeUsd: 0.25, receivedUsd: 4.75 }
const naira = [
  ...eventsTo.choose,
  { type: 'edited', form: { method: 'naira' } },
  { type: 'naira-quoted', quote },
]
const waiting = [...naira, { type: 'submitted-form' }, { type: 'naira-started', tip: nairaTip }]

test('a naira tip starts with the quote on the button, and only with a quote for its amount', (t) => {
  const { state, commands } = run([...naira, { type: 'submitted-form' }])
  t.is(state.step.at, 'naira-starting')
  t.like(commands.at(-1), { do: 'start-naira', cents: 500, quote })
  const other = run([...naira, { type: 'edited', form: { preset: 1000 } }, { type: 'submitted-form' }])
  t.is(other.state.step.at, 'choose')
})

for (const [status, at] of [
  ['completed', 'naira-done'],
  ['failed', 'naira-failed'],
  ['cancelled', 'naira-late'],
  ['requires_action', 'naira-waiting'],
] as const)
  test(`a naira tip with the status ${status} leads to the step ${at}`, (t) => {
    t.is(run([...waiting, { type: 'naira-status', intentId: 'fiatpay_1', status }]).state.step.at, at)
    t.is(
      run([...waiting, { type: 'naira-status', intentId: 'fiatpay_2', status }]).state.step.at,
      'naira-waiting',
    )
  })

test('a naira payment that arrives after its time completes the tip', (t) => {
  const status = (word: string) => ({ type: 'naira-status', intentId: 'fiatpay_1', status: word })
  const { state, messages } = run([
    ...waiting,
    status('cancelled'),
    { type: 'marked-sent' },
    status('cancelled'),
    status('completed'),
  ])
  t.is(state.step.at, 'naira-done')
  t.is(messages.filter(({ type }) => type === 'tip.failed').length, 1)
  t.like(messages.at(-1), {
    type: 'tip.completed',
    method: 'bank_transfer',
    amount: 7600,
    tokenSymbol: 'NGN',
  })
})

test('an unavailable rate or provider is shown, and nothing was paid', (t) => {
  t.is(run([...naira, { type: 'naira-quote-failed' }]).state.naira, 'unavailable')
  const starting = [...naira, { type: 'submitted-form' }]
  t.like(run([...starting, { type: 'naira-refused', code: 'rate_unavailable' }]).state, {
    naira: 'unavailable',
    step: { at: 'choose' },
  })
  t.is(
    run([...starting, { type: 'naira-refused', code: 'service_unavailable' }]).state.step.at,
    'provider-down',
  )
})

test('tipping anonymously clears the name and the e-mail', (t) => {
  const typed = { type: 'edited', form: { name: 'Tobi', email: 't@example.com' } }
  const { state } = run([...eventsTo.choose, typed, { type: 'edited', form: { anonymous: true } }])
  t.like(state.form, { name: '', email: '', anonymous: true })
})

test('a wallet that registers or unregisters changes only the list', (t) => {
  const { state } = run([...eventsTo.wallets, { type: 'wallets', wallets: [wallet] }])
  t.deepEqual(state.wallets, [wallet])
  t.is(state.step.at, 'wallets')
})
