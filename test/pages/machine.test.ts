import test from 'ava'
import { missingSol } from '../../src/pages/checkout/flow/pay.js'
import { chosenCents, isUsableEmail, limitsOf, presetsOf } from '../../src/pages/checkout/machine/form.js'
import { firstState } from '../../src/pages/checkout/machine/state.js'
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

const loaded = [{ type: 'loaded', session }]
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

test('a transaction that landed is not done before the service has confirmed it', (t) => {
  t.is(run([...sent, { type: 'landed', intentId: 'pi_1', failed: false }]).state.step.at, 'sent')
  t.is(run([...sent, { type: 'landed', intentId: 'pi_1', failed: true }]).state.step.at, 'failed-on-chain')
  t.is(run([...sent, { type: 'not-landed', intentId: 'pi_1' }]).state.step.at, 'not-landed')
})

test('an intent that expired without a payment does not prove that nothing was paid: the search goes on', (t) => {
  const status = (change: object) => ({ type: 'payment-status', intent: intentStatus(change) })
  const lost = { intentId: 'pi_1', signature: null }
  const expired = status({ status: 'expired', signature: null })
  const unseen = run([...approving, { type: 'sent', payment: lost }, expired])
  t.deepEqual(unseen.state.step, { at: 'not-seen', payment: lost })
  t.deepEqual(unseen.commands.at(-1), { do: 'watch-payment', payment: lost, late: true })
  t.false(unseen.messages.some(({ type }) => type === 'tip.failed'))
  t.false(
    unseen.commands.some((command) => command.do === 'clear-saved'),
    'a reload continues',
  )

  const after = (...events: object[]) => run(events as Record<string, unknown>[], unseen.state)
  t.deepEqual(after(expired).commands, [], 'it is watched already')
  for (const event of [{ type: 'session-over' }, { type: 'navigated', screen: 'wallets' }])
    t.is(after(event).state.step.at, 'not-seen', event.type)
  const found = after(status({ status: 'submitted' }))
  t.like(found.state.step, { at: 'sent', payment })
  t.like(found.commands.at(-1), { do: 'watch-payment', payment })
  t.is(after(status({ status: 'confirmed' })).state.step.at, 'done')
  const nothing = after(status({ status: 'failed', outcome: 'not_found' }))
  t.is(nothing.state.step.at, 'not-landed')
  t.is(nothing.messages.at(-1)?.type, 'tip.failed')
  t.is(after({ type: 'retried' }).state.step.at, 'wallets')
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

test('a balance that is too small is shown before the wallet is asked', (t) => {
  const stepWith = (balance: bigint) =>
    run([...eventsTo.pricing, { type: 'priced', intent, balance }]).state.step.at
  t.is(stepWith(33_333_333n), 'insufficient')
  t.is(stepWith(33_343_333n), 'review')
  t.is(run([...eventsTo.pricing, { type: 'priced', intent, balance: undefined }]).state.step.at, 'review')
  const without = run([
    ...eventsTo.pricing,
    { type: 'priced', intent, fee: { cost: 10_000n, has: 0n } },
  ]).state
  t.like(without.step, { at: 'insufficient', missingSol: '900880' })
  const missing = [10_000n, 10_001n, 900_879n, 900_880n].map((has) => missingSol({ cost: 10_000n, has }))
  t.deepEqual(
    missing,
    [0n, 890_879n, 1n, 0n],
    'an account is empty, or keeps the least that the network lets it have',
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

test('a payment under way stays visible when its session ends', (t) => {
  t.is(run([...sent, { type: 'session-over' }]).state.step.at, 'sent')
  t.is(run([...eventsTo.review, { type: 'session-over' }]).state.step.at, 'session-over')
})

const quote = { cents: 500, amountNgn: 7600, receivedUsd: 4.75 }
const naira = [
  ...eventsTo.choose,
  { type: 'edited', form: { method: 'naira' } },
  { type: 'naira-quoted', quote },
]
const waiting = [...naira, { type: 'submitted-form' }, { type: 'naira-started', tip: nairaTip }]

test('a naira payment that was not started is tried again, and at once when the connection is back', (t) => {
  const starting = [...naira, { type: 'submitted-form' }]
  const refused = (code: string) => run([...starting, { type: 'naira-refused', code }]).state
  for (const code of ['service_unavailable', 'network', 'too_many_requests', 'payment_refused']) {
    const again = run([{ type: 'retried' }], refused(code))
    t.is(again.state.step.at, 'naira-starting', code)
    t.like(again.commands, [{ do: 'start-naira', quote }])
  }
  t.is(run([{ type: 'retried' }], refused('invalid_amount')).state.step.at, 'choose')
  const connections = [true, false].map((offline) => ({ type: 'connection', offline }))
  t.is(run(connections, refused('network')).state.step.at, 'naira-starting')
  t.is(run(connections, refused('service_unavailable')).state.step.at, 'naira-refused')
})

const rate = { perUsd: 1600, chargedPerUsd: 1520 }
const typed = (other: string) => ({ type: 'edited', form: { preset: 'other', other } })

test('naira typed into a field in dollars are naira, and are paid exactly', (t) => {
  const wallet = run([...eventsTo.choose, typed('₦5000')])
  t.like(wallet.state.form, { currency: 'NGN', other: '₦5000' })
  t.deepEqual(wallet.commands, [{ do: 'read-naira-rate', cents: 10_000 }])
  t.is(chosenCents(wallet.state), undefined)
  const priced = run([{ type: 'naira-rate', rate }], wallet.state).state
  t.is(chosenCents(priced), 313)
  const inNaira = run([{ type: 'edited', form: { method: 'naira' } }, { type: 'submitted-form' }], priced)
  t.like(inNaira.commands.at(-1), {
    do: 'start-naira',
    quote: { cents: 329, amountNgn: 5000, receivedUsd: 3.12 },
  })
  t.like(run([typed('$7')], priced).state.form, { currency: 'USD', other: '$7' })
})

test('limits and presets follow the currency and the method', (t) => {
  const dollars = run([...eventsTo.choose, { type: 'naira-rate', rate }]).state
  t.deepEqual(limitsOf(dollars), { least: 100, most: 50_000 })
  const naira = run([{ type: 'edited', form: { method: 'naira' } }], dollars).state
  t.deepEqual(limitsOf(naira), { least: 100, most: 46_052 })
  const typedNaira = run([{ type: 'edited', form: { currency: 'NGN' } }], naira).state
  t.deepEqual(limitsOf(typedNaira), { least: 152_000, most: 70_000_000 })
  t.deepEqual(presetsOf(typedNaira), [200_000, 500_000, 1_000_000, 2_000_000])
  t.is(typedNaira.form.preset, 500_000)
  for (const [other, ok] of [
    ['1519.99', false],
    ['1520', true],
    ['700000', true],
    ['700001', false],
  ] as const)
    t.is(chosenCents(run([typed(other)], typedNaira).state) !== undefined, ok, other)
})

test('a phone without a wallet shows naira first, and keeps what was chosen before', (t) => {
  const phone = firstState(false, begin, {}, true)
  const { state, commands } = run(loaded, phone)
  t.like(state, { nairaFirst: true, form: { method: 'naira', currency: 'NGN', preset: 100_000 } })
  t.deepEqual(commands, [{ do: 'read-naira-rate', cents: 10_000 }])
  t.is(run([{ type: 'wallets', wallets: [wallet] }, ...loaded], phone).state.form.method, 'crypto')
  const chosen = firstState(false, begin, { mint: 'usdc', preset: 1000 }, true)
  t.like(run(loaded, chosen).state.form, { method: 'crypto', currency: 'USD', preset: 1000, mint: 'usdc' })
})

test('a naira payment can be left and returned to, and stays saved', (t) => {
  const left = run([...waiting, { type: 'start-over' }])
  t.like(left.state, { step: { at: 'choose' }, left: nairaTip })
  t.true(left.commands.some((command) => command.do === 'save' && command.left === true))
  t.is(run([{ type: 'resumed-naira', tip: nairaTip, left: true }, ...loaded]).state.left, nairaTip)
  const back = run([{ type: 'return-to-left' }], left.state)
  t.is(back.state.step.at, 'naira-waiting')
  t.deepEqual(back.commands.at(-1), { do: 'watch-naira', intentId: 'fiatpay_1' })
})

test('Back and Forward show the screen of their entry, and never offer to pay twice', (t) => {
  const after = (events: Parameters<typeof run>[0], screen: string) =>
    run([...events, { type: 'navigated', screen }]).state
  t.is(after(eventsTo.review, 'wallets').step.at, 'wallets')
  t.is(after(eventsTo.review, 'form').step.at, 'choose')
  t.is(after(eventsTo.choose, 'wallets').step.at, 'wallets')
  t.is(after(eventsTo.choose, 'other-device').step.at, 'phone')
  t.is(after(eventsTo.choose, 'review').step.at, 'wallets')
  for (const events of [approving, sent]) {
    const { step } = run(events).state
    for (const screen of ['form', 'wallets', 'review']) t.is(after(events, screen).step.at, step.at)
  }
  const left = run([...waiting, { type: 'navigated', screen: 'form' }]).state
  t.is(left.left, nairaTip)
  t.is(run([{ type: 'navigated', screen: 'payment' }], left).state.step.at, 'naira-waiting')
})

test('a frame whose page opens no other session goes on by itself after three seconds', (t) => {
  const again = [{ type: 'tip-again' }, { type: 'tick', now: begin + 2000 }]
  const paid = [...sent, { type: 'payment-status', intent: intentStatus({ status: 'confirmed' }) }]
  const asked = run([...paid, ...again])
  t.like(asked.state.step, { at: 'session-over', asked: begin }, 'the page is waited for')
  t.is(asked.messages.at(-1)?.type, 'tip.expired')
  const alone = run([{ type: 'tick', now: begin + 3000 }], asked.state)
  t.is(alone.state.step.at, 'loading')
  t.deepEqual(alone.commands, [{ do: 'renew' }])
  const refused = run([{ type: 'session-over' }, { type: 'tick', now: begin + 9000 }], alone.state)
  t.deepEqual(refused.state.step, { at: 'session-over' })
  t.deepEqual(
    refused.commands.filter(({ do: what }) => what === 'renew'),
    [],
  )

  const naira = [...waiting, { type: 'naira-status', intentId: 'fiatpay_1', status: 'completed' }]
  const form = run([...naira, ...again, { type: 'tick', now: begin + 3000 }])
  t.is(form.state.step.at, 'choose', 'a naira tip does not end the session')
  const dead = run([{ type: 'session-over' }, ...again, { type: 'tick', now: begin + 3000 }])
  t.deepEqual(dead.state.step, { at: 'session-over' }, 'without a session there is nothing to renew')
})

test('the receipt of a naira tip is shown again after a reload', (t) => {
  const paid = run([...waiting, { type: 'naira-status', intentId: 'fiatpay_1', status: 'completed' }])
  const done = paid.state.step
  t.is(done.at, 'naira-done')
  t.deepEqual(paid.commands.filter(({ do: what }) => what === 'save').at(-1), { do: 'save', done })
  const reloaded = run([{ type: 'resumed-done', done }, ...loaded], firstState(false, begin)).state
  t.deepEqual(reloaded.step, done)
  t.like(run([{ type: 'tip-again' }], reloaded).state, { step: { at: 'choose' }, form: { method: 'naira' } })
})

test('the same tip is not priced again while its price holds, so that Back uses up no intents', (t) => {
  const { state } = run(eventsTo.review)
  const again = (...changes: Parameters<typeof run>[0]) =>
    run([{ type: 'start-over' }, ...changes, ...eventsTo.pricing.slice(1)], state)
  const reused = again()
  t.like(reused.state.step, { at: 'pricing', address: 'a' })
  t.like(reused.commands.at(-1), { do: 'price', intent }, 'the balance is read again')
  const review = run([{ type: 'priced', intent, balance: 10n ** 12n }], reused.state)
  t.is(review.state.step.at, 'review')
  t.deepEqual(review.messages, [], 'the embedding page is told of an intent once')
  const asked = (...changes: Parameters<typeof run>[0]) => again(...changes).commands.at(-1)
  const none = { do: 'price', intent: undefined }
  t.like(asked({ type: 'tick', now: begin + 59_000 }), { do: 'price', intent })
  t.like(asked({ type: 'edited', form: { showFaults: true } }), { do: 'price', intent }, 'a field was left')
  t.like(asked({ type: 'tick', now: begin + 60_000 }), none, 'it has expired')
  t.like(asked({ type: 'edited', form: { preset: 1000 } }), none, 'another amount')
  t.like(asked({ type: 'edited', form: { mint: 'usdc' } }), none, 'another token')
  t.like(asked({ type: 'edited', form: { message: 'hello' } }), none, 'another message')
  const elsewhere = [...eventsTo.connecting.slice(1), { type: 'connected', address: 'b', rightNetwork: true }]
  t.like(run([{ type: 'start-over' }, ...elsewhere], state).commands.at(-1), none, 'another wallet')
  const after = (...events: Parameters<typeof run>[0]) =>
    run([...approving, ...events, { type: 'other-wallet' }, ...eventsTo.pricing.slice(2)]).commands.at(-1)
  const refused = (fault: string) => ({ type: 'pay-failed', fault, detail: '' })
  t.like(after(refused('rejected')), { do: 'price', intent })
  t.like(after(refused('failed')), none, 'the endpoint refused the transaction')
  t.like(after(refused('expired')), none)
  t.like(after({ type: 'sent', payment }, { type: 'not-landed', intentId: 'pi_1' }), none, 'it was sent')
})

test('an address that no receipt reaches is refused before the payment starts', (t) => {
  for (const [email, ok] of [
    ['', true],
    [' tobi@example.com ', true],
    ['tobi+tips@mail.example.ng', true],
    ['tobi@example', false],
    ['tobi.example.com', false],
    ['tobi@example..com', false],
    ['a@b.co, c@d.co', false],
  ] as const) {
    t.is(isUsableEmail(email), ok, email)
    const { state } = run([...naira, { type: 'edited', form: { email } }, { type: 'submitted-form' }])
    t.is(state.step.at, ok ? 'naira-starting' : 'choose')
  }
})
