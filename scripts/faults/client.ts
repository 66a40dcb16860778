import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'

const requestMs = 15_000
const retryMs = 150

/** A creator's browser. */
export interface Customer {
  readonly userId: string
  readonly cookie: string
}

/** What the service said in the end to one wish, however often it was asked. */
export interface Answered {
  readonly key: string
  readonly status: number
  readonly reference: string | undefined
  readonly error: string | undefined
  /** What the attempts before said; 0: no answer. */
  readonly before: readonly number[]
}

const account = { bankCode: '058', accountNumber: '0123456789', accountName: 'Ada Obi' }

/** Opens an account, and keeps its cookie. */
export async function register(url: string, email: string): Promise<Customer> {
  const { status, body, cookie } = await post(`${url}/auth/register`, {
    email,
    password: 'correct horse battery',
    name: 'Ada Obi',
  })
  if (status !== 200 || cookie === undefined) throw new Error(`register answered ${status}`)
  return { userId: (body as { user: { id: string } }).user.id, cookie }
}

/** Withdraws, under one key, as often as it takes to be told yes or no. */
export async function withdrawSurely(
  url: string,
  { cookie }: Customer,
  amountUSDC: number,
  giveUp: () => boolean = () => false,
): Promise<Answered | undefined> {
  const key = randomUUID()
  const before: number[] = []
  while (!giveUp()) {
    const { status, body } = await withdrawOnce(url, cookie, amountUSDC, key)
    const { reference, error } = body as { reference?: string; error?: string }
    const isFinal = status === 200 || status === 502 || status === 400 || status === 401 || status === 422
    if (isFinal) return { key, status, reference, error, before }
    before.push(status)
    await sleep(retryMs)
  }
  return undefined
}

/** Asks once. Status 0: there was no answer. */
export async function withdrawOnce(
  url: string,
  cookie: string,
  amountUSDC: number,
  key?: string,
): Promise<{ status: number; body: unknown }> {
  const headers = { cookie, ...(key === undefined ? {} : { 'idempotency-key': key }) }
  return post(`${url}/payouts/withdraw`, { ...account, amountUSDC }, headers).catch(() => ({
    status: 0,
    body: {},
  }))
}

async function post(
  url: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<{ status: number; body: unknown; cookie: string | undefined }> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(requestMs),
  })
  return {
    status: response.status,
    body: await response.json(),
    cookie: response.headers.get('set-cookie')?.split(';', 1)[0],
  }
}
