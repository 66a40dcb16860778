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
