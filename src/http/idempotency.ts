import { createHash, randomUUID } from 'node:crypto'
import type { Knex } from 'knex'
import type { Context } from 'koa'
import { DomainError, type ErrorCode } from '../kernel/errors.js'
import {
  findKey,
  type KeyedRequest,
  releaseKey,
  storeAnswer,
  type TakenKey,
  takeKey,
  takeOver,
} from '../platform/database/idempotency-keys.js'

export const idempotencyErrors = [
  'invalid_idempotency_key',
  'request_in_progress',
  'idempotency_key_reused',
] as const satisfies readonly ErrorCode[]

/** 1 to 255 printable ASCII characters. */
const keyForm = /^[\x20-\x7e]{1,255}$/

/** `request`: the request's idempotency key, for an operation that stores the key itself. Undefined without a key. */
type Handle<Input, Answer> = (input: Input, ctx: Context, request?: KeyedRequest) => Promise<Answer>

export interface IdempotencyOptions<Answer> {
  readonly db: Knex
  /** Keys of different scopes are independent. A scope is the route with the user or the client address. */
  readonly scope: (ctx: Context) => string
  /** Whether a stored answer is still valid. Otherwise the operation runs again under the same key. */
  readonly stillServes: (answer: Answer) => Promise<boolean>
}

/**
 * Makes a request safe to repeat. With an `Idempotency-Key` the operation succeeds once in 24 hours, and repetitions
 * get the stored answer with `Idempotency-Hit: true`. Two requests are the same if their parsed inputs are equal, so
 * field order, white space and unknown fields do not matter. Failures are not stored. Throws `idempotencyErrors`. A
 * request without the header passes through without a query. See docs/decisions/0030.
 */
export function idempotent<Input, Answer>(
  { db, scope, stillServes }: IdempotencyOptions<Answer>,
  handle: Handle<Input, Answer>,
): Handle<Input, Answer> {
  return async (input, ctx) => {
    const key = readKey(ctx)
    if (key === undefined) return handle(input, ctx)
    const request: KeyedRequest = {
      keyHash: sha256(`${scope(ctx)}\n${key}`),
      requestHash: sha256(JSON.stringify(input)),
      holder: randomUUID(),
    }
    const taken = (await takeKey(db, request)) ? undefined : requireAnswer(await findKey(db, request))
    if (taken === undefined) return runOnce(db, request, () => handle(input, ctx, request))
    if (await stillServes(taken.response as Answer)) {
      ctx.set('Idempotency-Hit', 'true')
      return taken.response as Answer
    }
    if (!(await takeOver(db, request, taken))) throw new DomainError('request_in_progress')
    return runOnce(db, request, () => handle(input, ctx, request))
  }
}

function readKey(ctx: Context): string | undefined {
  const key = ctx.headers['idempotency-key']
  if (key === undefined) return undefined
  if (typeof key !== 'string' || !keyForm.test(key)) throw new DomainError('invalid_idempotency_key')
  return key
}

/** An undefined key was released between the two queries. It counts as in progress: the caller can retry. */
function requireAnswer(taken: TakenKey | undefined): TakenKey {
  if (taken !== undefined && !taken.sameRequest) throw new DomainError('idempotency_key_reused')
  if (taken === undefined || taken.response === null) throw new DomainError('request_in_progress')
  return taken
}

async function runOnce<Answer>(db: Knex, request: KeyedRequest, run: () => Promise<Answer>): Promise<Answer> {
  let answer: Answer
  try {
    answer = await run()
  } catch (error) {
    // If the release fails too, the key's lease expires.
    await releaseKey(db, request).catch(() => undefined)
    throw error
  }
  await storeAnswer(db, request, answer)
  return answer
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
