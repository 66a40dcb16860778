import test, { type ExecutionContext } from 'ava'
import type { Fiat } from '../../../scripts/sandbox/fiat.js'
import { until } from '../../helpers/until.js'
import { caller, fiatFor, newRecipient, newReference, type SentTransfer, transferBody } from './client.js'

/** Long enough for any answer, and short where none is to come. */
const patienceMs = 10_000
const littlePatienceMs = 300

/** What a sender makes of one sending. */
async function send(
  fiat: Fiat,
  recipient: string,
  reference: string,
  patience = patienceMs,
): Promise<string> {
  try {
    const response = await fetch(`${fiat.url}/fiatpay/transfer`, {
      method: 'POST',
      headers: { authorization: `Bearer ${fiat.fiatpay.secretKey}` },
      body: JSON.stringify(transferBody(recipient, reference)),
      signal: AbortSignal.timeout(patience),
    })
    const text = await response.text()
    return text.startsWith('{')
      ? `${response.status} ${(JSON.parse(text) as { message: string }).message}`
      : text
  } catch (error) {
    const { name, cause } = error as { name: string; cause?: { code?: string } }
    return cause?.code ?? name
  }
}

async function setScene(t: ExecutionContext) {
  const fiat = await fiatFor(t)
  const { get, post, control } = caller(fiat)
  const recipient = await newRecipient({ post })
  return {
    fiat,
    recipient,
    control,
    send: (reference: string, patience?: number) => send(fiat, recipient, reference, patience),
    look: (reference: string) => get<SentTransfer>(`/transfer/verify/${reference}`),
    executed: (reference: string) =>
      fiat.fiatpay.log().transfers.filter((line) => line.reference === reference).length,
  }
}

/** References that are the same in every run, as what a seed makes of them. */
function numbered(count: number): string[] {
  return Array.from({ length: count }, (_, n) => `fiatpay-${String(n).padStart(32, '0')}`)
}

const modes = [
  ['auto', /^200 Transfer has been queued$/, 1],
  ['manual', /^200 Transfer has been queued$/, 1],
  ['reject', /^400 Account closed$/, 0],
  ['no-float', /^400 Your balance is not enough to fulfil this request$/, 0],
  ['refuse-connection', /^ECONNRESET$/, 0],
  ['timeout', /^TimeoutError$/, 0],
  ['500', /^500 An error occurred$/, 0],
  ['accept-then-timeout', /^TimeoutError$/, 1],
  ['accept-then-500', /^500 An error occurred$/, 1],
  ['accept-then-garbage', /^<!DOCTYPE html>/, 1],
  ['accept-then-reset', /^ECONNRESET$/, 1],
] as const

for (const [transfers, heard, executions] of modes)
  test(`${transfers}: the sender hears ${heard}, the money is sent ${executions} times`, async (t) => {
    const { fiat, control, send, look, executed } = await setScene(t)
    t.is((await control('fiatpay/mode', { transfers, rejectText: 'Account closed' })).status, 200)
    const reference = newReference()
    const silent = heard.source.includes('Timeout')
    t.regex(await send(reference, silent ? littlePatienceMs : patienceMs), heard)
    await until('it was sent', () => fiat.fiatpay.sendings.all()[reference] === 1)
    t.is(executed(reference), executions)
    t.is((await look(reference)).status, executions === 1 ? 200 : 404)
  })

test('whatever was executed unheard is refused when it is sent again, and settles', async (t) => {
  const { fiat, control, send, look, executed } = await setScene(t)
  fiat.fiatpay.behaviour.setFault({ settleMs: 50 })
  await control('fiatpay/mode', { transfers: 'accept-then-500' })
  const reference = newReference()
  await send(reference)
  await control('fiatpay/mode', { transfers: 'auto' })
  t.regex(await send(reference), /^400 .*Reference already exists/)
  await until('it settles', async () => (await look(reference)).body.data.status === 'success')
  t.is(executed(reference), 1)
})

test('an empty balance is noticed before a known reference', async (t) => {
  const { control, send, executed } = await setScene(t)
  const reference = newReference()
  await send(reference)
  await control('fiatpay/mode', { transfers: 'no-float' })
  t.regex(await send(reference), /^400 Your balance is not enough/)
  t.is(executed(reference), 1)
})

test('a provider that does not know its references sends money twice, and its log says so', async (t) => {
  const { control, send, executed } = await setScene(t)
  await control('fiatpay/faults', { duplicates: 'execute' })
  const reference = newReference()
  t.deepEqual([await send(reference), await send(reference)], Array(2).fill('200 Transfer has been queued'))
  t.is(executed(reference), 2)
})

test('a mixture is drawn from its seed, by reference and try', async (t) => {
  const mixture = { transfers: { auto: 3, '500': 1, 'accept-then-500': 1, reject: 1 }, seed: 7 } as const
  const references = numbered(40)
  const run = async (order: readonly string[]) => {
    const { control, send } = await setScene(t)
    t.is((await control('fiatpay/faults', mixture)).status, 200)
    const heard = new Map<string, string[]>()
    for (const reference of order) heard.set(reference, [await send(reference), await send(reference)])
    return references.map((reference) => heard.get(reference))
  }
  const first = await run(references)
  t.deepEqual(await run(references.toReversed()), first)
  t.is(new Set(first.flat()).size, 4, 'queued, refused, known already, broken')
})

test('one reference can fare differently from all others', async (t) => {
  const { control, send, executed } = await setScene(t)
  const [one, other] = [newReference(), newReference()]
  const ownId = `FIATPAY-${one.slice('fiatpay-'.length).toUpperCase()}`
  await control('fiatpay/faults', { id: ownId, transfers: 'accept-then-reset' })
  t.is(await send(one), 'ECONNRESET')
  t.is(await send(other), '200 Transfer has been queued')
  t.is(executed(one), 1)
  await control('fiatpay/faults', { id: ownId })
  t.regex(await send(one), /^400 .*already exists/)
})

test('a transfer may be found late, and outcomes may differ', async (t) => {
  const { fiat, control, send, look, executed } = await setScene(t)
  const faults = { lookupLagMs: 2000, outcomes: { failed: 1, reversed: 1 }, settleMs: 0, seed: 3 }
  await control('fiatpay/faults', faults)
  const references = numbered(12)
  for (const reference of references) await send(reference)
  const found = async () => (await Promise.all(references.map(look))).filter(({ status }) => status === 200)
  t.true((await found()).length < references.length)
  t.true(
    references.every((reference) => executed(reference) === 1),
    'the log knows at once',
  )
  await until('all are found', async () => (await found()).length === references.length)
  const statuses = new Set(fiat.fiatpay.log().transfers.map(({ status }) => status))
  t.deepEqual([...statuses].sort(), ['failed', 'reversed'])
})

test('lookups can fail in every way, and lie', async (t) => {
  const { fiat, control, send, look } = await setScene(t)
  const reference = newReference()
  await send(reference)
  const lookWith = async (lookups: string) => {
    await control('fiatpay/faults', { lookups })
    const path = `${fiat.url}/fiatpay/transfer/verify/${reference}`
    const headers = { authorization: `Bearer ${fiat.fiatpay.secretKey}` }
    return fetch(path, {
      headers,
      signal: AbortSignal.timeout(lookups === 'timeout' ? littlePatienceMs : patienceMs),
    })
  }
  t.is((await lookWith('not-found')).status, 404)
  t.is((await lookWith('500')).status, 500)
  t.regex(await (await lookWith('garbage')).text(), /^<!DOCTYPE/)
  await t.throwsAsync(lookWith('timeout'), { any: true, name: 'TimeoutError' })
  await t.throwsAsync(lookWith('reset'), { message: 'fetch failed' })
  await control('fiatpay/faults', { id: reference, shows: { amount: 5, currency: 'USD', status: 'otp' } })
  await control('fiatpay/faults', {})
  t.like((await look(reference)).body.data, { amount: 5, currency: 'USD', status: 'otp', reference })
})

test('banks, names and recipients can be out of reach while transfers go on', async (t) => {
  const { fiat, control, send } = await setScene(t)
  const { get, post } = caller(fiat)
  await control('fiatpay/faults', { accounts: '500' })
  t.is((await get('/bank')).status, 500)
  t.is((await get('/bank/resolve?account_number=0123456789&bank_code=058')).status, 500)
  t.is((await post('/transferrecipient', {})).status, 500)
  t.is(await send(newReference()), '200 Transfer has been queued')
  await control('fiatpay/faults', { accounts: { ok: 1, '500': 1 }, seed: 5 })
  const statuses = await Promise.all(Array.from({ length: 20 }, async () => (await get('/bank')).status))
  t.deepEqual([...new Set(statuses)].sort(), [200, 500])
})

test('bad controls are refused, and a reset leaves no fault behind', async (t) => {
  const { fiat, control } = await setScene(t)
  for (const mode of [{ transfers: 'explode' }, { charges: 'slow' }, { rejectText: '' }, { other: 1 }, 7])
    t.is((await control('fiatpay/mode', mode)).status, 400, JSON.stringify(mode))
  for (const fault of [{ transfers: {} }, { transfers: { auto: -1 } }, { settleMs: 1e9 }, { seed: -1 }, []])
    t.is((await control('fiatpay/faults', fault)).status, 400, JSON.stringify(fault))
  await control('fiatpay/mode', { transfers: '500' })
  const send500 = await send(fiat, await newRecipient(caller(fiat)), newReference())
  t.is(send500, '500 An error occurred')
  fiat.fiatpay.reset()
  const recipient = await newRecipient(caller(fiat))
  t.is(await send(fiat, recipient, newReference()), '200 Transfer has been queued')
})
