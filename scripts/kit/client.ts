import { hash, randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Knex } from 'knex'
import { platformAccount, transferEntries, userAccount } from '../../src/ledger/accounts.js'
import { credit } from '../../src/ledger/transfers.js'

const requestMs = 60_000
const retryMs = 150
/** A killed process answers again after a few seconds, on a loaded machine after many. */
const triesMax = 400
const finalStatuses = [200, 400, 401, 422, 502]

/** An answer of the API. Status 0: none came. */
export interface ApiAnswer {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
  /** Seconds. */
  readonly retryAfter: number
  readonly cookies: readonly string[]
}

export type ApiRequest = readonly [
  method: 'DELETE' | 'GET' | 'PATCH' | 'POST' | 'PUT',
  path: string,
  body?: unknown,
]
type Headers = Readonly<Record<string, string>>

/** Sends a request once. */
export async function requestOnce(
  url: string,
  [method, path, body]: ApiRequest,
  headers: Headers = {},
): Promise<ApiAnswer> {
  try {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(requestMs),
    })
    return {
      status: response.status,
      body: (await response.json()) as ApiAnswer['body'],
      retryAfter: Number(response.headers.get('retry-after') ?? 0),
      cookies: response.headers.getSetCookie(),
    }
  } catch {
    return { status: 0, body: {}, retryAfter: 0, cookies: [] }
  }
}

/** Whether an answer says nothing about the request: the process was killed, is starting, or works on the same request. */
function saysNothing({ status, body }: ApiAnswer): boolean {
  return status === 0 || status >= 500 || body['code'] === 'request_in_progress'
}

/** Repeats a request until its answer says something, or too many did not. Waits as long as the refusal says, as our client library does. */
export async function requestUntilAnswered(
  url: string,
  request: ApiRequest,
  headers: Headers = {},
): Promise<ApiAnswer> {
  let answer = await requestOnce(url, request, headers)
  for (let tries = 1; saysNothing(answer) && tries < triesMax; tries++) {
    await sleep(Math.max(retryMs, answer.retryAfter * 1000))
    answer = await requestOnce(url, request, headers)
  }
  return answer
}

/** Posts JSON and returns the answer. Throws unless it is 200. */
export async function postJson(url: string, body: unknown, cookie = ''): Promise<ApiAnswer['body']> {
  const answer = await requestOnce(url, ['POST', '', body], { cookie })
  if (answer.status !== 200)
    throw new Error(`${url} answered ${answer.status} ${JSON.stringify(answer.body)}`)
  return answer.body
}

/** The code of six digits that stands alone in a mail. */
export function codeIn(text: string): string | undefined {
  return /^ {4}([0-9]{6})$/m.exec(text)?.[1]
}

/** A creator with the session cookie of the browser. */
export interface Creator {
  readonly userId: string
  readonly cookie: string
}

/** Registers an account and keeps the session cookie. */
export async function register(url: string, email: string): Promise<Creator> {
  const form = { email, password: 'correct horse battery', name: 'Ada Obi' }
  const { status, body, cookies } = await requestUntilAnswered(url, ['POST', '/auth/register', form])
  const cookie = cookies[0]?.split(';', 1)[0]
  if (status !== 200 || cookie === undefined) throw new Error(`register answered ${status}`)
  return { userId: (body['user'] as { id: string }).id, cookie }
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

/** The final answer to a withdrawal that was repeated under one idempotency key. */
export interface WithdrawalAnswer {
  readonly key: string
  readonly status: number
  readonly reference: string | undefined
  readonly error: string | undefined
  /** The statuses of the earlier attempts. 0: no answer. */
  readonly earlierStatuses: readonly number[]
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
    if (finalStatuses.includes(status)) return { key, status, reference, error, earlierStatuses }
    earlierStatuses.push(status)
    await sleep(retryMs)
  }
  return undefined
}

/** Requests a withdrawal once, to a bank account of this creator alone: who shares one with somebody who owes is held. */
export function withdrawOnce(
  url: string,
  cookie: string,
  amountUSDC: number,
  key?: string,
): Promise<ApiAnswer> {
  const accountNumber = String(hash('sha256', cookie, 'buffer').readUInt32BE()).padStart(10, '0')
  const body = { bankCode: '058', accountNumber, accountName: 'Ada Obi', amountUSDC }
  return requestOnce(url, ['POST', '/payouts/withdraw', body], {
    cookie,
    ...(key === undefined ? {} : { 'idempotency-key': key }),
  })
}
