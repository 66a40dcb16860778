import { createHash, randomUUID } from 'node:crypto'
import type { Knex } from 'knex'
import type { Context } from 'koa'
import { DomainError, type ErrorCode } from '../kernel/errors.js'
import {
  findKey,
  type KeyedRequest,
  releaseKey,
  renewEveryMs,
  renewLease,
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
  /**
   * The answer from what the operation itself has stored under the key, if anything. It serves while the lease of the
   * request that stored it still runs: that request may be dead.
   */
  readonly findStoredAnswer?: (request: KeyedRequest) => Promise<Answer | undefined>
}

/**
 * Makes a request safe to repeat. With an `Idempotency-Key` the operation succeeds once in 24 hours, and repetitions
 * get the stored answer with `Idempotency-Hit: true`. Two requests are the same if their parsed inputs are equal, so
 * field order, white space and unknown fields do not matter. Failures are not stored. Throws `idempotencyErrors`. A
 * request without the header passes through without a query. See docs/decisions/0030.
 */
export function idempotent<Input, Answer>(
  { db, scope, stillServes, findStoredAnswer }: IdempotencyOptions<Answer>,
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
    const run = () => runOnce(db, request, () => handle(input, ctx, request))
    if (await takeKey(db, request)) return run()
    const taken = await findSameRequest(db, request)
    const answer = isAnswered(taken) ? (taken.response as Answer) : await findStoredAnswer?.(request)
    if (answer === undefined) throw new DomainError('request_in_progress')
    if (!isAnswered(taken) || (await stillServes(answer))) {
      ctx.set('Idempotency-Hit', 'true')
      return answer
    }
    if (!(await takeOver(db, request, taken))) throw new DomainError('request_in_progress')
    return run()
  }
}

function readKey(ctx: Context): string | undefined {
  const key = ctx.headers['idempotency-key']
  if (key === undefined) return undefined
  if (typeof key !== 'string' || !keyForm.test(key)) throw new DomainError('invalid_idempotency_key')
  return key
}

async function findSameRequest(db: Knex, request: KeyedRequest): Promise<TakenKey | undefined> {
  const taken = await findKey(db, request)
  if (taken !== undefined && !taken.sameRequest) throw new DomainError('idempotency_key_reused')
  return taken
}

/** An undefined key was released between the two queries. It counts as in progress: the caller can retry. */
function isAnswered(taken: TakenKey | undefined): taken is TakenKey {
  return taken !== undefined && taken.response !== null
}

async function runOnce<Answer>(db: Knex, request: KeyedRequest, run: () => Promise<Answer>): Promise<Answer> {
  let answer: Answer
  // A failed renewal changes nothing: the next one comes before the lease ends.
  const renewal = setInterval(() => {
    renewLease(db, request).then(
      (renewed) => {
        if (!renewed) clearInterval(renewal)
      },
      () => undefined,
    )
  }, renewEveryMs)
  try {
    answer = await run()
  } catch (error) {
    // If the release fails too, the key's lease expires.
    await releaseKey(db, request).catch(() => undefined)
    throw error
  } finally {
    clearInterval(renewal)
  }
  await storeAnswer(db, request, answer)
  return answer
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
