import test, { type ExecutionContext } from 'ava'
import type { FiatSandbox } from '../../../scripts/sandbox/fiat-sandbox.js'
import { until } from '../../helpers/until.js'
import {
  createCaller,
  newRecipient,
  newReference,
  type SentTransfer,
  startFiatFor,
  transferBody,
} from './client.js'

/** How long to wait for an answer, and for an answer that must not come. */
const answerMs = 60_000
const noAnswerMs = 1000

/** Sends a transfer. Returns what the sender received: status and message, a page, or an error code. */
async function send(
  fiat: FiatSandbox,
  recipient: string,
  reference: string,
  waitMs = answerMs,
): Promise<string> {
  try {
    const response = await fetch(`${fiat.url}/fiatpay/transfer`, {
      method: 'POST',
      headers: { authorization: `Bearer ${fiat.fiatpay.secretKey}` },
      body: JSON.stringify(transferBody(recipient, reference)),
      signal: AbortSignal.timeout(waitMs),
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

async function startProvider(t: ExecutionContext) {
  const fiat = await startFiatFor(t)
  const { get, post, control } = createCaller(fiat)
  const recipient = await newRecipient({ post })
  return {
    fiat,
    recipient,
    control,
    send: (reference: string, waitMs?: number) => send(fiat, recipient, reference, waitMs),
    lookUp: (reference: string) => get<SentTransfer>(`/transfer/verify/${reference}`),
    executed: (reference: string) =>
      fiat.fiatpay.log().transfers.filter((line) => line.reference === reference).length,
  }
}

/** References that are the same in every run, so that a seed draws the same faults. */
function numberedReferences(count: number): string[] {
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

for (const [transfers, received, executions] of modes)
  test(`${transfers}: the sender receives ${received}, and the transfer is executed ${executions} times`, async (t) => {
    const { fiat, control, send, lookUp, executed } = await startProvider(t)
    t.is((await control('fiatpay/mode', { transfers, rejectText: 'Account closed' })).status, 200)
    const reference = newReference()
    const hangs = received.source.includes('Timeout')
    t.regex(await send(reference, hangs ? noAnswerMs : answerMs), received)
    await until('it was sent', () => fiat.fiatpay.sendings.all()[reference] === 1)
    t.is(executed(reference), executions)
    t.is((await lookUp(reference)).status, executions === 1 ? 200 : 404)
  })

test('a transfer that was executed without an answer is refused when it is repeated, and succeeds', async (t) => {
  const { fiat, control, send, lookUp, executed } = await startProvider(t)
  fiat.fiatpay.faults.setFault({ settleMs: 50 })
  await control('fiatpay/mode', { transfers: 'accept-then-500' })
  const reference = newReference()
  await send(reference)
  await control('fiatpay/mode', { transfers: 'auto' })
  t.regex(await send(reference), /^400 .*Reference already exists/)
  await until('it succeeds', async () => (await lookUp(reference)).body.data.status === 'success')
  t.is(executed(reference), 1)
})

test('an empty balance is checked before a used reference', async (t) => {
  const { control, send, executed } = await startProvider(t)
  const reference = newReference()
  await send(reference)
  await control('fiatpay/mode', { transfers: 'no-float' })
  t.regex(await send(reference), /^400 Your balance is not enough/)
  t.is(executed(reference), 1)
})

test('a provider without deduplication executes a reference twice, and its log has both', async (t) => {
  const { control, send, executed } = await startProvider(t)
  await control('fiatpay/faults', { duplicates: 'execute' })
  const reference = newReference()
  t.deepEqual([await send(reference), await send(reference)], Array(2).fill('200 Transfer has been queued'))
  t.is(executed(reference), 2)
})

test('weighted faults are drawn from the seed, the reference and the attempt', async (t) => {
  const fault = { transfers: { auto: 3, '500': 1, 'accept-then-500': 1, reject: 1 }, seed: 7 } as const
  const references = numberedReferences(40)
  const run = async (order: readonly string[]) => {
    const { control, send } = await startProvider(t)
    t.is((await control('fiatpay/faults', fault)).status, 200)
    const received = new Map<string, string[]>()
    for (const reference of order) received.set(reference, [await send(reference), await send(reference)])
    return references.map((reference) => received.get(reference))
  }
  const first = await run(references)
  t.deepEqual(await run(references.toReversed()), first)
  t.is(new Set(first.flat()).size, 4, 'queued, rejected, duplicate, error 500')
})

test('one reference can have faults of its own', async (t) => {
  const { control, send, executed } = await startProvider(t)
  const [one, other] = [newReference(), newReference()]
  const ownId = `FIATPAY-${one.slice('fiatpay-'.length).toUpperCase()}`
  await control('fiatpay/faults', { id: ownId, transfers: 'accept-then-reset' })
  t.is(await send(one), 'ECONNRESET')
  t.is(await send(other), '200 Transfer has been queued')
  t.is(executed(one), 1)
  await control('fiatpay/faults', { id: ownId })
  t.regex(await send(one), /^400 .*already exists/)
})

test('transfers can become visible late and have different outcomes', async (t) => {
  const { fiat, control, send, lookUp, executed } = await startProvider(t)
  const faults = { lookupLagMs: 6000, outcomes: { failed: 1, reversed: 1 }, settleMs: 0, seed: 3 }
  await control('fiatpay/faults', faults)
  const references = numberedReferences(12)
  for (const reference of references) await send(reference)
  const found = async () => (await Promise.all(references.map(lookUp))).filter(({ status }) => status === 200)
  t.true((await found()).length < references.length)
  t.true(
    references.every((reference) => executed(reference) === 1),
    'the log has them immediately',
  )
  await until('all are found', async () => (await found()).length === references.length)
  const statuses = new Set(fiat.fiatpay.log().transfers.map(({ status }) => status))
  t.deepEqual([...statuses].sort(), ['failed', 'reversed'])
})

test('lookups can have every fault and show false values', async (t) => {
  const { fiat, control, send, lookUp } = await startProvider(t)
  const reference = newReference()
  await send(reference)
  const lookUpWith = async (lookups: string) => {
    await control('fiatpay/faults', { lookups })
    const path = `${fiat.url}/fiatpay/transfer/verify/${reference}`
    const headers = { authorization: `Bearer ${fiat.fiatpay.secretKey}` }
    return fetch(path, {
      headers,
      signal: AbortSignal.timeout(lookups === 'timeout' ? noAnswerMs : answerMs),
    })
  }
  t.is((await lookUpWith('not-found')).status, 404)
  t.is((await lookUpWith('500')).status, 500)
  t.regex(await (await lookUpWith('garbage')).text(), /^<!DOCTYPE/)
  await t.throwsAsync(lookUpWith('timeout'), { any: true, name: 'TimeoutError' })
  await t.throwsAsync(lookUpWith('reset'), { message: 'fetch failed' })
  await control('fiatpay/faults', { id: reference, shows: { amount: 5, currency: 'USD', status: 'otp' } })
  await control('fiatpay/faults', {})
  t.like((await lookUp(reference)).body.data, { amount: 5, currency: 'USD', status: 'otp', reference })
})

test('banks, account names and recipients can be unavailable while transfers work', async (t) => {
  const { fiat, control, send } = await startProvider(t)
  const { get, post } = createCaller(fiat)
  await control('fiatpay/faults', { accounts: '500' })
  t.is((await get('/bank')).status, 500)
  t.is((await get('/bank/resolve?account_number=0123456789&bank_code=058')).status, 500)
  t.is((await post('/transferrecipient', {})).status, 500)
  t.is(await send(newReference()), '200 Transfer has been queued')
  await control('fiatpay/faults', { accounts: { ok: 1, '500': 1 }, seed: 5 })
  const statuses = await Promise.all(Array.from({ length: 20 }, async () => (await get('/bank')).status))
  t.deepEqual([...new Set(statuses)].sort(), [200, 500])
})

test('invalid controls are refused, and a reset removes all faults', async (t) => {
  const { fiat, control } = await startProvider(t)
  for (const mode of [{ transfers: 'explode' }, { charges: 'slow' }, { rejectText: '' }, { other: 1 }, 7])
    t.is((await control('fiatpay/mode', mode)).status, 400, JSON.stringify(mode))
  for (const fault of [{ transfers: {} }, { transfers: { auto: -1 } }, { settleMs: 1e9 }, { seed: -1 }, []])
    t.is((await control('fiatpay/faults', fault)).status, 400, JSON.stringify(fault))
  await control('fiatpay/mode', { transfers: '500' })
  const send500 = await send(fiat, await newRecipient(createCaller(fiat)), newReference())
  t.is(send500, '500 An error occurred')
  fiat.fiatpay.reset()
  const recipient = await newRecipient(createCaller(fiat))
  t.is(await send(fiat, recipient, newReference()), '200 Transfer has been queued')
})
