import type { Knex } from 'knex'
import type { DescribeSubjects } from '../../events/event.js'
import { displayNumber } from '../../kernel/money.js'
import { sqlList } from '../../kernel/state-machine.js'
import { query } from '../../platform/database/database.js'
import { type DisputeState, undecidedStates } from '../lifecycle.js'

export interface StoredDispute {
  readonly id: string
  /** The provider's ids of the payment and of the charge. */
  readonly transaction: string
  readonly reference: string
  /** Null: about no charge of ours. */
  readonly intentId: string | null
  readonly kobo: bigint
  readonly state: DisputeState
  readonly category: string | null
  readonly autoAccepted: boolean
  readonly openedAt: Date
  readonly answerBy: Date
  readonly endedAt: Date | null
  /** Negative: too late. */
  readonly secondsLeft: number
  readonly caseNumber: number
  /** The books show its state. */
  readonly settled: boolean
  /** A webhook says that there is news of it. */
  readonly recheck: boolean
  readonly sinceCreated: number
  readonly answer: 'accept' | 'decline' | null
  readonly answeredBy: string | null
  /** When the last request to answer that may have arrived began. As text, to compare it exactly. */
  readonly answerSentAt: string | null
  readonly sinceAnswer: number | null
  readonly answerResult: string | null
}

export const disputeColumns = /* sql */ `
  d.id, d.provider_transaction as transaction, d.reference, d.intent_id as "intentId", d.kobo, d.state, d.category,
  d.auto_accepted as "autoAccepted", d.opened_at as "openedAt", d.answer_by as "answerBy", d.ended_at as "endedAt",
  extract(epoch from d.answer_by - clock_timestamp())::float8 as "secondsLeft", d.case_number as "caseNumber", d.settled, d.recheck,
  extract(epoch from clock_timestamp() - d.created_at)::float8 as "sinceCreated",
  d.answer, d.answered_by as "answeredBy", d.answer_sent_at::text as "answerSentAt",
  extract(epoch from clock_timestamp() - d.answer_sent_at)::float8 as "sinceAnswer", d.answer_result as "answerResult"`

/** An operator needs so long to answer with what the creator has said. */
const operatorHours = 2

/** Until when the creator can say something about a dispute `d` that waits for our answer, as SQL. Null: it is too late. */
export const replyBySql = /* sql */ `
  case when d.state = 'open' and d.answer_by > clock_timestamp() + interval '${operatorHours} hours'
    then d.answer_by - interval '${operatorHours} hours' end`

/** The case of a dispute in the books. A dispute that is taken up again after its end has another one. */
export function caseOf({ id, caseNumber }: Pick<StoredDispute, 'id' | 'caseNumber'>): string {
  return caseNumber === 1 ? `dispute:${id}` : `dispute:${id}#${caseNumber}`
}

export async function findDispute(db: Knex, id: string): Promise<StoredDispute | undefined> {
  const [row] = await query<StoredDispute>(db, {
    name: 'disputes.find',
    text: `select ${disputeColumns} from disputes d where d.id = $1`,
    values: [id],
  })
  return row
}

/** What an event about a dispute says, of those about a creator's tip. */
export const describeDisputes: DescribeSubjects = async (trx, ids) => {
  const rows = await query<StoredDispute & { readonly userId: string }>(trx, {
    name: 'disputes.describe',
    text: /* sql */ `
      select ${disputeColumns}, f.user_id as "userId" from disputes d join fiat_intents f on f.id = d.intent_id
      where d.id = any($1::text[])`,
    values: [ids],
  })
  return new Map(
    rows.map(({ id, userId, intentId, state, kobo, category, openedAt, answerBy, endedAt }) => {
      const amountNGN = displayNumber(kobo, 2)
      return [
        id,
        {
          userId,
          data: { dispute: id, tip: intentId, state, amountNGN, category, openedAt, answerBy, endedAt },
        },
      ]
    }),
  )
}

export interface ListedDispute extends StoredDispute {
  /** Null: about no charge of ours. */
  readonly creatorId: string | null
}

/** The disputes that have not ended, those with the least time left first; with `all` also the others. */
export function listDisputes(db: Knex, all: boolean, limit: number): Promise<ListedDispute[]> {
  return query<ListedDispute>(db, {
    name: 'disputes.list',
    text: /* sql */ `
      select ${disputeColumns}, f.user_id as "creatorId" from disputes d left join fiat_intents f on f.id = d.intent_id
       where $1 or d.state in (${sqlList(undecidedStates)}) or not d.settled
      order by d.state <> 'open', d.answer_by, d.id limit $2`,
    values: [all, limit],
  })
}

/** Naira of disputes that the provider may have taken from our balance already, and that are not booked. */
export async function sumDisputesUnderWay(db: Knex): Promise<bigint> {
  const [row] = await query<{ kobo: bigint }>(db, {
    name: 'disputes.sum-under-way',
    text: `select coalesce(sum(kobo), 0)::bigint as kobo from disputes where state in (${sqlList(undecidedStates)}) or not settled`,
    values: [],
  })
  return row?.kobo ?? 0n
}
