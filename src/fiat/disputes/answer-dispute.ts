import { ProviderError } from '../../kernel/provider-error.js'
import { query, write } from '../../platform/database/database.js'
import type { UnitOfWork } from '../../platform/database/transact.js'
import type { DisputeAnswer, Disputes } from '../../ports/disputes.js'
import type { Services } from '../../services.js'
import { findDispute, type StoredDispute } from './dispute.js'
import { type Evidence, evidenceFile, wireEvidence } from './evidence.js'
import { recordDispute } from './record-dispute.js'

type Needs = Pick<Services, 'db' | 'transact' | 'config'>

/** What an operator answers. `message`: for the bank. */
export interface AnswerOrder {
  readonly answer: DisputeAnswer['answer']
  readonly message: string
  readonly by: string
}

/** What is to be done about an order to answer. */
export type AnswerStep =
  | { readonly kind: 'send' }
  /** An answer may be on its way, and the provider may still show it. */
  | { readonly kind: 'wait'; readonly seconds: number }
  /** An earlier answer arrived. */
  | { readonly kind: 'done' }
  | { readonly kind: 'refuse'; readonly reason: string }

/**
 * Whether a dispute may be answered, after what the provider shows of it was recorded. Pure. Unknown is not refused: after a request
 * without an answer the provider has `settleSeconds` to show it.
 */
export function decideAnswer(
  { id, state, answer: before, answerSentAt, sinceAnswer }: StoredDispute,
  { answer }: Pick<AnswerOrder, 'answer'>,
  settleSeconds: number,
): AnswerStep {
  if (state !== 'open') {
    const isOurs = answerSentAt !== null && before === answer
    return isOurs ? { kind: 'done' } : { kind: 'refuse', reason: `the dispute ${id} is ${state} already` }
  }
  if (answerSentAt === null) return { kind: 'send' }
  const seconds = Math.ceil(settleSeconds - (sinceAnswer ?? settleSeconds))
  return seconds > 0 ? { kind: 'wait', seconds } : { kind: 'send' }
}

/** Reads a dispute at the provider and records it. Undefined: one of the two does not have it. Throws ProviderError. */
export async function refreshDispute(services: Needs, disputes: Pick<Disputes, 'find'>, id: string) {
  const shown = await disputes.find(id)
  if (shown !== undefined) await services.transact((uow) => recordDispute(uow, services, shown))
  return shown && findDispute(services.db, id)
}

/**
 * Takes a dispute to answer it, in the caller's transaction, which is committed before the provider is asked. Undefined: another
 * operator took it, or it moved on.
 */
export async function takeForAnswer(
  { trx }: Pick<UnitOfWork, 'trx'>,
  { id, answerSentAt }: StoredDispute,
  { answer, message, by }: AnswerOrder,
): Promise<Pick<StoredDispute, 'answerSentAt'> | undefined> {
  const [taken] = await query<Pick<StoredDispute, 'answerSentAt'>>(trx, {
    name: 'disputes.take-answer',
    text: /* sql */ `
      update disputes set answer = $3, answer_message = $4, answered_by = $5, answer_sent_at = clock_timestamp(),
        answer_result = null, reminded_at = null
      where id = $1 and state = 'open' and answer_sent_at is not distinct from $2::timestamptz
      returning answer_sent_at::text as "answerSentAt"`,
    values: [id, answerSentAt, answer, message, by],
  })
  return taken
}

export type AnswerOutcome =
  | { readonly kind: 'answered'; readonly dispute: StoredDispute }
  /** Certainly not answered. `reason`: the provider's text. */
  | { readonly kind: 'refused'; readonly reason: string }
  /** Not known. The next run reads the dispute first. */
  | { readonly kind: 'unknown'; readonly reason: string }

/**
 * Sends the answer of a taken dispute, once. `wasUnknown`: an earlier request may have arrived. What is stored at the provider
 * before it, evidence and a file, answers nothing.
 */
export async function sendAnswer(
  services: Needs,
  disputes: Disputes,
  dispute: Pick<StoredDispute, 'id' | 'kobo' | 'answerSentAt'>,
  { answer, message }: AnswerOrder,
  { evidence, wasUnknown }: { readonly evidence: Evidence | undefined; readonly wasUnknown: boolean },
): Promise<AnswerOutcome> {
  const { id, kobo } = dispute
  try {
    const stored = answer === 'decline' && evidence !== undefined ? wireEvidence(evidence) : undefined
    const evidenceId = stored && (await asUnanswered(disputes.addEvidence(id, stored)))
    const file = evidenceFile(id, message, evidence)
    const goesBack = answer === 'accept' ? kobo : 0n
    const shown = await disputes.answer(id, {
      answer,
      message,
      kobo: goesBack,
      file,
      ...(evidenceId !== undefined && { evidence: evidenceId }),
    })
    await services.transact((uow) => recordDispute(uow, services, shown))
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error
    // A refusal of a repeated request says nothing about the request before it.
    const isUnknown = error.kind === 'ambiguous' || wasUnknown
    await noteResult(services, dispute, error.message, isUnknown)
    return { kind: isUnknown ? 'unknown' : 'refused', reason: error.message }
  }
  const answered = await findDispute(services.db, id)
  if (answered === undefined) throw new Error(`No dispute ${id}`)
  return { kind: 'answered', dispute: answered }
}

/** Evidence answers nothing, so an unknown outcome of storing it is none. */
async function asUnanswered<Result>(stored: Promise<Result>): Promise<Result> {
  try {
    return await stored
  } catch (error) {
    if (error instanceof ProviderError && error.kind === 'ambiguous')
      throw new ProviderError('unavailable', error.message)
    throw error
  }
}

async function noteResult(
  { db }: Pick<Services, 'db'>,
  { id, answerSentAt }: Pick<StoredDispute, 'id' | 'answerSentAt'>,
  result: string,
  isUnknown: boolean,
): Promise<void> {
  await write(db, {
    name: 'disputes.note-answer',
    text: /* sql */ `
      update disputes set answer_result = left($3, 200), answer_sent_at = case when $4 then answer_sent_at end
      where id = $1 and answer_sent_at is not distinct from $2::timestamptz`,
    values: [id, answerSentAt, result, isUnknown],
  })
}
