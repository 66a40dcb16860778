import { randomBytes } from 'node:crypto'
import type { ExecutionContext } from 'ava'
import { type Fiat, startFiat } from '../../../scripts/sandbox/fiat.js'
import type { FiatpayOptions } from '../../../scripts/sandbox/fiatpay/fiatpay.js'

/** The provider's envelope, and what its refusals say besides. */
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

/** The provider for one test. */
export async function fiatFor(t: ExecutionContext, options?: FiatpayOptions): Promise<Fiat> {
  const fiat = await startFiat(options)
  t.teardown(() => fiat.close())
  return fiat
}

const answerMs = 10_000

/** One call of the provider's API, by who has its key. */
export async function api<Data>(
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

/** A control of the development stack. */
export async function control(
  { url }: { readonly url: string },
  path: string,
  body: unknown,
): Promise<{ status: number; body: unknown }> {
  const response = await fetch(`${url}/dev/${path}`, { method: 'POST', body: JSON.stringify(body) })
  return { status: response.status, body: await response.json() }
}

/** A caller of this stand-in. */
export function caller({ url, fiatpay }: Fiat) {
  const to = { url, secretKey: fiatpay.secretKey }
  return {
    get: <Data>(path: string) => api<Data>(to, 'GET', path),
    post: <Data>(path: string, body: unknown) => api<Data>(to, 'POST', path, body),
    control: (path: string, body: unknown) => control(to, path, body),
  }
}

/** A reference of the service's form: 32 hex digits after the word. */
export function newReference(): string {
  return `fiatpay-${randomBytes(16).toString('hex')}`
}

/** A recipient to send to. Returns its code. */
export async function newRecipient(
  { post }: Pick<ReturnType<typeof caller>, 'post'>,
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

/** The body that sends NGN 1,000. */
export function transferBody(recipient: string, reference: string, amount = 100_000) {
  return { source: 'balance', amount, recipient, reference, reason: 'Withdrawal', currency: 'NGN' }
}
