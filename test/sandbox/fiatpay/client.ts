import { randomBytes } from 'node:crypto'
import type { ExecutionContext } from 'ava'
import { type FiatSandbox, startFiatSandbox } from '../../../scripts/sandbox/fiat-sandbox.js'
import type { FiatpayOptions } from '../../../scripts/sandbox/fiatpay/fiatpay.js'

/** The provider's envelope, with the additional fields of refusals. */
export interface Envelope<Data> {
  readonly status: boolean
  readonly message: string
  readonly data: Data
  readonly code?: string
  readonly meta?: Readonly<Record<string, unknown>>
}

export interface Transaction {
  readonly id: number
  readonly status: string
  readonly reference: string
  readonly amount: number
  readonly requested_amount: number
  readonly paid_at: string | null
  readonly channel: string
  readonly gateway_response: string
}

export interface SentTransfer {
  readonly id: number
  readonly status: string
  readonly reference: string
  readonly amount: number
  readonly transfer_code: string
  readonly gateway_response?: string | null
}

/** Starts the provider for one test. */
export async function startFiatFor(t: ExecutionContext, options?: FiatpayOptions): Promise<FiatSandbox> {
  const fiat = await startFiatSandbox(options)
  t.teardown(() => fiat.close())
  return fiat
}

const answerMs = 60_000

/** Calls the provider's API with a secret key. */
export async function callApi<Data>(
  { url, secretKey }: { readonly url: string; readonly secretKey: string },
  method: string,
  path: string,
  body?: unknown,
): Promise<{ status: number; body: Envelope<Data> }> {
  const response = await fetch(`${url}/fiatpay${path}`, {
    method,
    headers: { authorization: `Bearer ${secretKey}`, 'content-type': 'application/json' },
    signal: AbortSignal.timeout(answerMs),
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return { status: response.status, body: (await response.json()) as Envelope<Data> }
}

/** Calls a control of the sandbox. */
async function callControl(
  { url }: { readonly url: string },
  path: string,
  body: unknown,
): Promise<{ status: number; body: unknown }> {
  const response = await fetch(`${url}/dev/${path}`, { method: 'POST', body: JSON.stringify(body) })
  return { status: response.status, body: await response.json() }
}

/** Creates functions that call this stand-in. */
export function createCaller({ url, fiatpay }: FiatSandbox) {
  const to = { url, secretKey: fiatpay.secretKey }
  return {
    get: <Data>(path: string) => callApi<Data>(to, 'GET', path),
    post: <Data>(path: string, body: unknown) => callApi<Data>(to, 'POST', path, body),
    put: <Data>(path: string, body: unknown) => callApi<Data>(to, 'PUT', path, body),
    control: (path: string, body: unknown) => callControl(to, path, body),
  }
}

/** A reference in the service's format: 32 hex digits after `fiatpay-`. */
export function newReference(): string {
  return `fiatpay-${randomBytes(16).toString('hex')}`
}

/** Creates a recipient of transfers. Returns its code. */
export async function newRecipient(
  { post }: Pick<ReturnType<typeof createCaller>, 'post'>,
  accountNumber = '0123456789',
): Promise<string> {
  const { body } = await post<{ recipient_code: string }>('/transferrecipient', {
    type: 'nuban',
    name: 'Ada Obi',
    account_number: accountNumber,
    bank_code: '058',
    currency: 'NGN',
  })
  return body.data.recipient_code
}

/** The body of `POST /transfer`, by default for NGN 1,000. */
export function transferBody(recipient: string, reference: string, amount = 100_000) {
  return { source: 'balance', amount, recipient, reference, reason: 'Withdrawal', currency: 'NGN' }
}
