import { hash, randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Knex } from 'knex'
import { platformAccount, transferEntries, userAccount } from '../../src/ledger/accounts.js'
import { credit } from '../../src/ledger/transfers.js'

const requestMs = 60_000
const retryMs = 150
/** A killed process answers again after a few seconds, on a loaded machine after many. */
const triesMax = 400

/** A creator with the session cookie of the browser. */
export interface Creator {
  readonly userId: string
  readonly cookie: string
}

/** The final answer to a withdrawal that was repeated under one idempotency key. */
export interface WithdrawalAnswer {
  readonly key: string
  readonly status: number
  readonly reference: string | undefined
  readonly error: string | undefined
  /** The statuses of the earlier attempts. 0: no answer. */
  readonly earlierStatuses: readonly number[]
}

/** Each creator's own: who shares one with somebody who owes is held. */
function accountOf(cookie: string) {
  const accountNumber = String(hash('sha256', cookie, 'buffer').readUInt32BE()).padStart(10, '0')
  return { bankCode: '058', accountNumber, accountName: 'Ada Obi' }
}

/** Registers an account and keeps the session cookie. */
export async function register(url: string, email: string): Promise<Creator> {
  const form = { email, password: 'correct horse battery', name: 'Ada Obi' }
  let answer = await post(`${url}/auth/register`, form)
  // Nothing was stored.
  for (let tries = 1; answer.status === 503 && tries < triesMax; tries++) {
    await sleep(retryMs)
    answer = await post(`${url}/auth/register`, form)
  }
  const { status, body, cookie } = answer
  if (status !== 200 || cookie === undefined) throw new Error(`register answered ${status}`)
  return { userId: (body as { user: { id: string } }).user.id, cookie }
}

/** Repeats a withdrawal under one idempotency key until the answer is final. */
export async function withdrawUntilFinal(
  url: string,
  { cookie }: Creator,
  amountUSDC: number,
  giveUp: () => boolean = () => false,
): Promise<WithdrawalAnswer | undefined> {
  const key = randomUUID()
  const earlierStatuses: number[] = []
  while (!giveUp()) {
    const { status, body } = await withdrawOnce(url, cookie, amountUSDC, key)
    const { reference, error } = body as { reference?: string; error?: string }
    const isFinal = status === 200 || status === 502 || status === 400 || status === 401 || status === 422
    if (isFinal) return { key, status, reference, error, earlierStatuses }
    earlierStatuses.push(status)
    await sleep(retryMs)
  }
  return undefined
}

/** Requests a withdrawal once. Status 0: no answer. */
export async function withdrawOnce(
  url: string,
  cookie: string,
  amountUSDC: number,
  key?: string,
): Promise<{ status: number; body: unknown }> {
  const headers = { cookie, ...(key === undefined ? {} : { 'idempotency-key': key }) }
  return post(`${url}/payouts/withdraw`, { ...accountOf(cookie), amountUSDC }, headers).catch(() => ({
    status: 0,
    body: {},
  }))
}

/** An answer of the API. Status 0: none came. */
export interface ApiAnswer {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
  /** Seconds. */
  readonly retryAfter?: number
}

export type ApiRequest = readonly [method: 'GET' | 'PATCH' | 'POST' | 'PUT', path: string, body?: unknown]

/** Sends a request once. */
export async function requestOnce(
  url: string,
  [method, path, body]: ApiRequest,
  headers: Readonly<Record<string, string>> = {},
): Promise<ApiAnswer> {
  return send(method, `${url}${path}`, body, headers).then(
    (answer) => answer as ApiAnswer,
    () => ({ status: 0, body: {} }),
  )
}

/** Whether an answer says nothing about the request: the process was killed, is starting, or works on the same request. */
function saysNothing({ status, body }: ApiAnswer): boolean {
  return status === 0 || status >= 500 || body['code'] === 'request_in_progress'
}

/** Repeats a request until its answer says something, or too many did not. Waits as long as the refusal says, as our client library does. */
export async function requestUntilAnswered(
  url: string,
  request: ApiRequest,
  headers: Readonly<Record<string, string>> = {},
): Promise<ApiAnswer> {
  let answer = await requestOnce(url, request, headers)
  for (let tries = 1; saysNothing(answer) && tries < triesMax; tries++) {
    await sleep(Math.max(retryMs, (answer.retryAfter ?? 0) * 1000))
    answer = await requestOnce(url, request, headers)
  }
  return answer
}

/** The code of six digits that stands alone in a mail. */
export function codeIn(text: string): string | undefined {
  return /^ {4}([0-9]{6})$/m.exec(text)?.[1]
}

const post = (url: string, body: unknown, headers: Readonly<Record<string, string>> = {}) =>
  send('POST', url, body, headers)

async function send(
  method: string,
  url: string,
  body: unknown,
  headers: Readonly<Record<string, string>>,
): Promise<{ status: number; body: unknown; cookie: string | undefined; retryAfter: number }> {
  const response = await fetch(url, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(requestMs),
  })
  return {
    status: response.status,
    body: await response.json(),
    retryAfter: Number(response.headers.get('retry-after') ?? 0),
    cookie: response.headers.get('set-cookie')?.split(';', 1)[0],
  }
}

/** Posts JSON and returns the answer. Throws unless it is 200. */
export async function postJson(url: string, body: unknown, cookie = ''): Promise<ApiAnswer['body']> {
  const answer = await post(url, body, { cookie })
  if (answer.status !== 200)
    throw new Error(`${url} answered ${answer.status} ${JSON.stringify(answer.body)}`)
  return answer.body as ApiAnswer['body']
}

/** Registers a creator with this balance, credited as if it came from the chain. */
export async function createFundedCreator(db: Knex, url: string, micro: bigint): Promise<Creator> {
  const creator = await register(url, `${randomBytes(8).toString('hex')}@example.com`)
  await fund(db, creator.userId, micro)
  return creator
}

/** Credits a user as if the money came from the chain. Once. */
export async function fund(db: Knex, userId: string, micro: bigint): Promise<void> {
  const available = userAccount(userId, 'available', 'USDC')
  const entries = transferEntries(micro, platformAccount('custody_wallets', 'USDC'), available)
  await credit(db, { key: `faults:${userId}`, ref: 'faults', entries })
}
