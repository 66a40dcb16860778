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

/** `claim`: the key it runs under, for an operation that remembers the key itself; undefined without one. */
type Handle<Input, Answer> = (input: Input, ctx: Context, claim?: KeyedRequest) => Promise<Answer>

export interface IdempotencyOptions<Answer> {
  readonly db: Knex
  /** Keys of different scopes never meet: the route, and the user or the address. */
  readonly scope: (ctx: Context) => string
  /** Whether a stored answer is still of use; one that is not is replaced by a new one under the same key. */
  readonly stillServes: (answer: Answer) => Promise<boolean>
}

/**
 * Lets callers repeat a request safely: with an `Idempotency-Key`, the operation succeeds once in 24 hours, and
 * repetitions get its answer with `Idempotency-Hit: true`. Requests are the same when what was understood of
 * them is the same: order of fields, white space and unknown fields do not count. Failures are not stored.
 * Throws `idempotencyErrors`. Without the header nothing changes, and nothing is asked of the database.
 */
export function idempotent<Input, Answer>(
  { db, scope, stillServes }: IdempotencyOptions<Answer>,
  handle: Handle<Input, Answer>,
): Handle<Input, Answer> {
  return async (input, ctx) => {
    const key = readKey(ctx)
    if (key === undefined) return handle(input, ctx)
    const claim: KeyedRequest = {
      keyHash: sha256(`${scope(ctx)}\n${key}`),
      requestHash: sha256(JSON.stringify(input)),
      holder: randomUUID(),
    }
    const held = (await takeKey(db, claim)) ? undefined : storedAnswer(await findKey(db, claim))
    if (held === undefined) return runOnce(db, claim, () => handle(input, ctx, claim))
    if (await stillServes(held.response as Answer)) {
      ctx.set('Idempotency-Hit', 'true')
      return held.response as Answer
    }
    if (!(await takeOver(db, claim, held))) throw new DomainError('request_in_progress')
    return runOnce(db, claim, () => handle(input, ctx, claim))
  }
}

function readKey(ctx: Context): string | undefined {
  const key = ctx.headers['idempotency-key']
  if (key === undefined) return undefined
  if (typeof key !== 'string' || !keyForm.test(key)) throw new DomainError('invalid_idempotency_key')
  return key
}

/** A key released between the two questions was in progress a moment ago: the caller may try again. */
function storedAnswer(held: TakenKey | undefined): TakenKey {
  if (held !== undefined && !held.sameRequest) throw new DomainError('idempotency_key_reused')
  if (held === undefined || held.response === null) throw new DomainError('request_in_progress')
  return held
}

async function runOnce<Answer>(db: Knex, claim: KeyedRequest, run: () => Promise<Answer>): Promise<Answer> {
  let answer: Answer
  try {
    answer = await run()
  } catch (error) {
    // If even this fails, the lease runs out.
    await releaseKey(db, claim).catch(() => undefined)
    throw error
  }
  await storeAnswer(db, claim, answer)
  return answer
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
