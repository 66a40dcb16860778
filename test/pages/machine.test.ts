import test from 'ava'
import { approving, begin, intent, nairaTip, run, seen, sent, session, wallet, ways } from './checkout.js'

const payment = { intentId: 'pi_1', signature: 'sig' }

test('the happy path goes from the form to done, and tells the page around on the way', (t) => {
  const { state, told } = run([...sent, { type: 'watched', intent: seen({ status: 'confirmed' }) }])
  t.is(state.step.at, 'done')
  t.deepEqual(
    told.map(({ type }) => type),
    ['tip.started', 'tip.submitted', 'tip.completed'],
  )
  t.like(told[2], {
    amount: 0.033333333,
    tokenSymbol: 'SOL',
    amountUsd: 5,
    receivedAmount: 0.032666666,
    signature: 'sig',
  })
})

test('a session that cannot be read leaves a dead link, and the page around is told', (t) => {
  const { state, told } = run([{ type: 'session-dead' }])
  t.is(state.step.at, 'dead')
  t.deepEqual(told, [{ type: 'tip.expired' }])
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
  test(`the amount "${field}" is ${ok ? '' : 'not '}taken`, (t) => {
    const { state } = run([
      ...ways.choose,
      { type: 'edited', form: { preset: 'other', other: field } },
      { type: 'submitted-form' },
    ])
    t.is(state.step.at, ok ? 'wallets' : 'choose')
    t.true(state.form.looked)
  })

for (const [fault, at] of [
  ['rejected', 'wallets'],
  ['busy', 'busy'],
  ['wrong-network', 'wrong-network'],
  ['disconnected', 'wallets'],
  ['failed', 'wallets'],
] as const)
  test(`connecting that ends as ${fault} leads to ${at}`, (t) => {
    const { state, told } = run([...ways.connecting, { type: 'pay-failed', fault, detail: 'x' }])
    t.is(state.step.at, at)
    t.is(told.at(-1)?.type, 'tip.failed')
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
  test(`paying that ends as ${fault} leads to ${at}`, (t) => {
    t.is(run([...approving, { type: 'pay-failed', fault, detail: 'x' }]).state.step.at, at)
  })

for (const [code, reason] of [
  ['no_route', 'route'],
  ['no_price', 'route'],
  ['amount_below_minimum', 'small'],
  ['price_unavailable', 'away'],
  ['network', 'away'],
] as const)
  test(`a price refused with ${code} is told as ${reason}`, (t) => {
    t.like(run([...ways.pricing, { type: 'price-failed', code }]).state.step, { at: 'no-price', reason })
  })

for (const [change, at] of [
  [{ status: 'confirmed' }, 'done'],
  [{ status: 'failed', outcome: 'tx_failed' }, 'refused'],
  [{ status: 'failed', outcome: 'mismatch' }, 'mismatch'],
  [{ status: 'failed', outcome: 'not_found' }, 'not-taken'],
  [{ status: 'expired' }, 'not-taken'],
  [{ status: 'submitted' }, 'sent'],
  [{ status: 'requires_action' }, 'sent'],
] as const)
  test(`a payment of which the service says ${JSON.stringify(change)} is ${at}`, (t) => {
    t.is(run([...sent, { type: 'watched', intent: seen(change) }]).state.step.at, at)
  })

test('what the chain took is not done before the service says so', (t) => {
  t.is(run([...sent, { type: 'landed', intentId: 'pi_1', failed: false }]).state.step.at, 'sent')
  t.is(run([...sent, { type: 'landed', intentId: 'pi_1', failed: true }]).state.step.at, 'refused')
  t.is(run([...sent, { type: 'unlanded', intentId: 'pi_1' }]).state.step.at, 'not-taken')
})

test('a payment that was sent is shown and followed wherever the supporter is by then', (t) => {
  const places = [
    ...Object.values(ways),
    approving,
    [...approving, { type: 'cancelled' }],
    [...approving, { type: 'tick', now: begin + 61_000 }],
    [...approving, { type: 'pay-failed', fault: 'rejected', detail: '' }],
  ]
  for (const way of places) {
    const { state, commands } = run([...way, { type: 'sent', payment }])
    t.is(state.step.at, 'sent')
    t.true(commands.some((command) => command.do === 'watch'))
    t.true(commands.some((command) => command.do === 'keep'))
  }
})

test('answers to what was given up change nothing', (t) => {
  const late = [
    { type: 'connected', attempt: 2, address: 'a', here: true },
    { type: 'priced', attempt: 3, intent, balance: undefined },
    { type: 'price-failed', attempt: 3, code: 'no_route' },
    { type: 'pay-failed', attempt: 5, fault: 'failed', detail: '' },
    { type: 'naira-started', attempt: 5, tip: nairaTip },
  ]
  const { state } = run([...ways.review, { type: 'start-over' }])
  for (const event of late) t.deepEqual(run([event], state).state, state)
})

test('other payments of other intents change nothing', (t) => {
  const { state } = run(sent)
  for (const event of [
    { type: 'watched', intent: seen({ intentId: 'pi_2', status: 'confirmed' }) },
    { type: 'landed', intentId: 'pi_2', failed: true },
    { type: 'unlanded', intentId: 'pi_2' },
  ])
    t.deepEqual(run([event], state).state, state)
})

test('a price is over when its time is, in the review and while the wallet asks', (t) => {
  for (const way of [ways.review, approving]) {
    t.not(run([...way, { type: 'tick', now: begin + 59_000 }]).state.step.at, 'quote-expired')
    const over = run([...way, { type: 'tick', now: begin + 60_000 }])
    t.is(over.state.step.at, 'quote-expired')
    t.is(run([{ type: 'retried' }], over.state).state.step.at, 'pricing')
  }
})

test('a wallet that holds too little is told before it is asked', (t) => {
  const poor = (balance: bigint) => run([...ways.pricing, { type: 'priced', intent, balance }]).state.step.at
  t.is(poor(33_333_333n), 'insufficient')
  t.is(poor(33_343_333n), 'review')
  t.is(run([...ways.pricing, { type: 'priced', intent, balance: undefined }]).state.step.at, 'review')
})

test('a price impact above 5 % has to be accepted', (t) => {
  const dear = { ...intent, quote: { ...intent.quote, priceImpactPct: 5.1 } }
  const { state } = run([...ways.pricing, { type: 'priced', intent: dear, balance: undefined }])
  t.is(run([{ type: 'approved' }], state).state.step.at, 'review')
  t.is(
    run([{ type: 'accepted-impact', accepted: true }, { type: 'approved' }], state).state.step.at,
    'approving',
  )
})

test('what is paid in another window or by a phone is heard of; what failed there is not', (t) => {
  const away = [...ways.wallets, { type: 'open-window' }]
  const listed = (change: Parameters<typeof seen>[0]) =>
    run([...away, { type: 'listed', intents: [seen(change)] }]).state.step.at
  t.is(listed({ status: 'failed', outcome: 'tx_failed' }), 'elsewhere')
  t.is(listed({ status: 'requires_action' }), 'elsewhere')
  t.is(listed({ status: 'submitted' }), 'sent')
  t.is(listed({ status: 'confirmed' }), 'done')
  const phone = run([
    ...ways.wallets,
    { type: 'use-phone' },
    { type: 'listed', intents: [seen({ status: 'confirmed' })] },
  ])
  t.is(phone.state.step.at, 'done')
  t.is(phone.told.at(-1)?.type, 'tip.completed')
})

test('a blocked window leaves a link that carries a code', (t) => {
  const { state, commands } = run([
    ...ways.wallets,
    { type: 'open-window' },
    { type: 'popup', opened: false },
  ])
  t.is(state.step.at, 'blocked')
  t.deepEqual(commands.at(-1), { do: 'hand-off', cents: 500, mint: 'sol' })
  const links = { browser: 'https://x/#h=1', request: undefined }
  t.deepEqual(run([{ type: 'handed-off', links }], state).state.step, {
    at: 'blocked',
    link: 'https://x/#h=1',
  })
})

test('a session that ends while a payment is on its way does not take the payment from sight', (t) => {
  t.is(run([...sent, { type: 'session-dead' }]).state.step.at, 'sent')
  t.is(run([...ways.review, { type: 'session-dead' }]).state.step.at, 'dead')
})

test('the supporter who comes back finds the payment that was on its way', (t) => {
  const { state, commands } = run([
    { type: 'resumed', payment },
    { type: 'loaded', session },
  ])
  t.is(state.step.at, 'sent')
  t.deepEqual(commands, [{ do: 'watch', payment }])
})

const quote = { cents: 500, amountNgn: 7600, feeUsd: 0.25, receivedUsd: 4.75 }
const naira = [...ways.choose, { type: 'edited', form: { method: 'naira' } }, { type: 'quoted', quote }]
const waiting = [...naira, { type: 'submitted-form' }, { type: 'naira-started', tip: nairaTip }]

test('a tip in naira charges what the button said, and only a price of this amount counts', (t) => {
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
  test(`a tip in naira that is ${status} is ${at}`, (t) => {
    t.is(run([...waiting, { type: 'naira-status', intentId: 'fiatpay_1', status }]).state.step.at, at)
    t.is(
      run([...waiting, { type: 'naira-status', intentId: 'fiatpay_2', status }]).state.step.at,
      'naira-waiting',
    )
  })

test('money that comes after the time is over still makes the tip done', (t) => {
  const status = (word: string) => ({ type: 'naira-status', intentId: 'fiatpay_1', status: word })
  const { state, told } = run([
    ...waiting,
    status('cancelled'),
    { type: 'said-sent' },
    status('cancelled'),
    status('completed'),
  ])
  t.is(state.step.at, 'naira-done')
  t.is(told.filter(({ type }) => type === 'tip.failed').length, 1)
  t.like(told.at(-1), { type: 'tip.completed', method: 'bank_transfer', amount: 7600, tokenSymbol: 'NGN' })
})

test('a rate or a provider that is away is said, and nothing was paid', (t) => {
  t.is(run([...naira, { type: 'quote-failed' }]).state.naira, 'away')
  const starting = [...naira, { type: 'submitted-form' }]
  t.like(run([...starting, { type: 'naira-refused', code: 'rate_unavailable' }]).state, {
    naira: 'away',
    step: { at: 'choose' },
  })
  t.is(
    run([...starting, { type: 'naira-refused', code: 'service_unavailable' }]).state.step.at,
    'provider-down',
  )
})

test('whoever tips anonymously leaves no name and no e-mail behind', (t) => {
  const typed = { type: 'edited', form: { name: 'Tobi', email: 't@example.com' } }
  const { state } = run([...ways.choose, typed, { type: 'edited', form: { anonymous: true } }])
  t.like(state.form, { name: '', email: '', anonymous: true })
})

test('a wallet that comes or goes changes the list and nothing else', (t) => {
  const { state } = run([...ways.wallets, { type: 'wallets', wallets: [wallet] }])
  t.deepEqual(state.wallets, [wallet])
  t.is(state.step.at, 'wallets')
})
