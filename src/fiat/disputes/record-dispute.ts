import type { Knex } from 'knex'
import { recordEvent } from '../../events/record-event.js'
import { hasStep, sqlList } from '../../kernel/state-machine.js'
import { freeReceivable, holdReceivable } from '../../ledger/receivables/receivables.js'
import { query, write } from '../../platform/database/database.js'
import type { UnitOfWork } from '../../platform/database/transact.js'
import type { Dispute } from '../../ports/disputes.js'
import type { Services } from '../../services.js'
import { showDisputed, showRefunded } from '../../tips/fiat-tip.js'
import { goneCents } from '../gone-payments.js'
import { advanceDispute, type DisputeState, disputeMachine, undecidedStates } from '../lifecycle.js'
import { lockIntent } from '../settlement/lock-intent.js'
import { bookReturn, isBooked, restoreReturn } from './book-return.js'
import { caseOf, describeDisputes, disputeColumns, replyBySql, type StoredDispute } from './dispute.js'
import { mailReturnNews, type ReturnNews } from './mails.js'
import { divideLoss, type Loss, readShares } from './payment-shares.js'

/** The provider gives a business so long to answer. Used when it names no time. */
const answerHours = 16
/** So long after a lost dispute its payment may still be recorded: a webhook was lost, or it was being settled. */
const unrecordedSeconds = 7 * 24 * 3600

type Needs = Pick<Services, 'config'>

export interface RecordedDispute {
  readonly dispute: StoredDispute
  readonly isNew: boolean
  /** The state before. Undefined: it did not change. */
  readonly before: DisputeState | undefined
}

/**
 * Records what the provider shows of a dispute, and makes the books show it: held while it is open, debited when it is lost, free
 * when it is won. All in the caller's transaction, so that a repetition, also in two workers at the same time, changes nothing.
 * Undefined: the provider shows what says nothing, or what cannot follow from the state before.
 */
export async function recordDispute(
  uow: UnitOfWork,
  services: Needs,
  shown: Dispute,
): Promise<RecordedDispute | undefined> {
  const { state } = shown
  if (state === 'unclear') return undefined
  const { trx } = uow
  const isNew = await insert(trx, shown, state)
  const before = await lock(trx, shown.id)
  if (!hasStep(disputeMachine, before.state, state)) return undefined
  // Nobody has been told yet about a dispute that was not settled.
  const changed = before.state !== state || (isNew ? state !== 'won' : !before.settled)
  // A declined dispute may show the whole payment. A lost one shows what was taken.
  const kobo = state !== 'lost' && before.kobo < shown.kobo ? before.kobo : shown.kobo
  const moved = before.state === state ? before : await recordState(trx, before, shown, state)
  const dispute = { ...moved, kobo }
  const news = await settle(uow, dispute, before)
  await finish(trx, dispute, news.settled)
  if (dispute.intentId !== null) await showReturns(trx, dispute.intentId)
  if (changed && news.mail !== undefined) {
    const { replyBy } = await readOpen(trx, dispute.intentId ?? '')
    await mailReturnNews(uow, services, { ...dispute, replyBy }, news.mail)
    const type = news.mail.kind === 'opened' ? 'dispute.opened' : 'dispute.closed'
    recordEvent(uow, type, dispute.id, describeDisputes)
  }
  return { dispute, isNew, before: before.state === state ? undefined : before.state }
}

/** True: the row is new. */
async function insert(trx: Knex, shown: Dispute, state: DisputeState): Promise<boolean> {
  const rows = await query(trx, {
    name: 'disputes.insert',
    text: /* sql */ `
      insert into disputes (id, provider_transaction, reference, intent_id, kobo, state, category, auto_accepted, opened_at,
        answer_by, ended_at)
      values ($1, $2, $3, (select id from fiat_intents where provider_reference = $3), $4, $5, $6, $7, $8,
        coalesce($9::timestamptz, $8::timestamptz + $10 * interval '1 hour'), $11)
      on conflict (id) do nothing returning 1`,
    values: [
      shown.id,
      shown.transaction,
      shown.reference,
      shown.kobo,
      state,
      shown.category,
      shown.autoAccepted,
      shown.createdAt,
      shown.dueAt,
      answerHours,
      shown.resolvedAt,
    ],
  })
  return rows.length > 0
}

/** Locks the row, then the tip, so that the disputes and payments of one tip are settled one after the other. */
async function lock(trx: Knex, id: string): Promise<StoredDispute> {
  const [row] = await query<StoredDispute>(trx, {
    name: 'disputes.lock',
    text: `select ${disputeColumns} from disputes d where d.id = $1 for no key update`,
    values: [id],
  })
  if (row === undefined) throw new Error(`No dispute ${id}`)
  if (row.intentId !== null) await lockIntent(trx, row.intentId)
  return row
}

async function recordState(
  trx: Knex,
  { id, state: before, settled }: StoredDispute,
  { autoAccepted, dueAt, resolvedAt }: Dispute,
  to: DisputeState,
): Promise<StoredDispute> {
  const step = advanceDispute(to, [before])
  const [row] = await query<StoredDispute>(trx, {
    name: `disputes.${before}-${to}`,
    text: /* sql */ `
      update disputes d set ${step.set}, auto_accepted = $2, answer_by = coalesce($3, answer_by), settled = false, ended_at = $4,
        -- Another answer is wanted, or the case of before has ended. One whose loss is still booked goes on.
        answer_sent_at = case when $5 then null else answer_sent_at end, reminded_at = case when $5 then null else reminded_at end,
        case_number = case_number + case when $6 then 1 else 0 end
      where d.id = $1 and ${step.from} returning ${disputeColumns}`,
    values: [id, autoAccepted, dueAt, resolvedAt, to === 'open', before === 'won' && settled],
  })
  if (row === undefined) throw new Error(`The dispute ${id} has moved on under its lock`)
  return row
}

interface Settled {
  /** The books show its state. */
  readonly settled: boolean
  readonly mail: ReturnNews | undefined
}

async function settle(uow: UnitOfWork, dispute: StoredDispute, before: StoredDispute): Promise<Settled> {
  const { trx } = uow
  const shares = await readShares(trx, dispute.transaction)
  // Not recorded: reversed before it was seen, or never ours. Nothing was credited, so nothing is lost.
  if (shares === undefined) {
    const waits = dispute.intentId !== null && dispute.sinceCreated < unrecordedSeconds
    return { settled: dispute.state === 'won' || !waits, mail: undefined }
  }
  const id = caseOf(dispute)
  if (isUndecided(dispute.state)) {
    const loss = await hold(trx, dispute)
    // A step between the two undecided states is no news for the creator.
    const known = isUndecided(before.state) && before.state !== dispute.state
    return { settled: true, mail: known || loss === undefined ? undefined : { kind: 'opened', loss } }
  }
  if (dispute.state === 'won') {
    // A refund under way is of what was left: what comes back waits until it has ended.
    if (shares.isRefunding && (await isBooked(trx, id))) return { settled: false, mail: undefined }
    await freeReceivable(trx, id)
    const restored = await restoreReturn(trx, shares, id)
    await holdDisputed(trx, dispute.transaction, dispute.id)
    return { settled: true, mail: { kind: 'won', loss: restored } }
  }
  // What is left to lose is known when a refund has ended.
  if (shares.isRefunding) {
    await hold(trx, dispute)
    return { settled: false, mail: undefined }
  }
  const booked = await bookReturn(trx, shares, { id, kind: 'dispute', kobo: dispute.kobo })
  await holdDisputed(trx, dispute.transaction, dispute.id)
  return { settled: true, mail: booked && { kind: 'lost', loss: booked } }
}

function isUndecided(state: DisputeState): boolean {
  return undecidedStates.some((one) => one === state)
}

/**
 * Holds what the creator would lose. Of several disputes about one payment, each holds what those before it leave. Undefined: the
 * payment is not recorded.
 */
async function hold(
  trx: Knex.Transaction,
  dispute: Pick<StoredDispute, 'id' | 'caseNumber' | 'transaction' | 'kobo'>,
  endedId: string | null = null,
): Promise<Loss | undefined> {
  const shares = await readShares(trx, dispute.transaction)
  if (shares === undefined) return undefined
  const earlier = await earlierKobo(trx, dispute, endedId)
  const both = divideLoss(shares, earlier + dispute.kobo)
  const first = divideLoss(shares, earlier)
  const loss = {
    suspenseKobo: both.suspenseKobo - first.suspenseKobo,
    creditedKobo: both.creditedKobo - first.creditedKobo,
    debitMicro: both.debitMicro - first.debitMicro,
    feeMicro: both.feeMicro - first.feeMicro,
  }
  const { intentId, userId } = shares
  if (loss.debitMicro > 0n)
    await holdReceivable(trx, { id: caseOf(dispute), userId, ref: intentId, amountMicro: loss.debitMicro })
  return loss
}

/** A dispute `d` may still take what it is about, as SQL: it is undecided, or lost and not booked. */
export const isHolding = `(d.state in (${sqlList(undecidedStates)}) or d.state = 'lost' and not d.settled)`

/** What the disputes that were recorded before this one may still take of the same payment. */
async function earlierKobo(
  trx: Knex,
  { id, transaction }: Pick<StoredDispute, 'id' | 'transaction'>,
  endedId: string | null,
): Promise<bigint> {
  const [row] = await query<{ kobo: bigint }>(trx, {
    name: 'disputes.earlier',
    text: /* sql */ `
      select coalesce(sum(d.kobo), 0)::bigint as kobo from disputes d join disputes own on own.id = $1
      where d.provider_transaction = $2 and d.id is distinct from $3 and ${isHolding} and d.number < own.number`,
    values: [id, transaction, endedId],
  })
  return row?.kobo ?? 0n
}

/**
 * Lets the disputes about a payment hold what something else has left of it: a dispute that ended (`endedId`), or a refund that
 * failed. In the transaction that ends it, which holds the lock of the tip: between the two nobody could withdraw it.
 */
export async function holdDisputed(
  trx: Knex.Transaction,
  transaction: string,
  endedId: string | null = null,
): Promise<void> {
  const disputes = await query<StoredDispute>(trx, {
    name: 'disputes.holding',
    text: /* sql */ `
      select ${disputeColumns} from disputes d
      where d.provider_transaction = $1 and d.id is distinct from $2 and ${isHolding} order by d.number`,
    values: [transaction, endedId],
  })
  for (const dispute of disputes) await hold(trx, dispute, endedId)
}

async function finish(trx: Knex, { id, kobo }: StoredDispute, settled: boolean): Promise<void> {
  await write(trx, {
    name: 'disputes.finish',
    text: 'update disputes set settled = $2, recheck = false, kobo = $3 where id = $1',
    values: [id, settled, kobo],
  })
}

/** Whether a tip is disputed, and until when its creator can say something about it. Null: no more. */
async function readOpen(trx: Knex, intentId: string): Promise<{ disputed: boolean; replyBy: Date | null }> {
  const [row] = await query<{ disputed: boolean; replyBy: Date | null }>(trx, {
    name: 'disputes.tip',
    text: /* sql */ `
      select count(*) > 0 as disputed, min(${replyBySql}) as "replyBy"
      from disputes d where d.intent_id = $1 and d.state in (${sqlList(undecidedStates)})`,
    values: [intentId],
  })
  return row ?? { disputed: false, replyBy: null }
}

/** Shows at the tip what has come back of it. */
export async function showReturns(trx: Knex, intentId: string): Promise<void> {
  const { disputed, replyBy } = await readOpen(trx, intentId)
  await showDisputed(trx, intentId, disputed, replyBy)
  await showRefunded(trx, intentId, await goneCents(trx, intentId))
}
