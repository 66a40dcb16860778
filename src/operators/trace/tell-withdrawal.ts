import type { Knex } from 'knex'
import { nairaText, usdcText } from '../../kernel/money.js'
import { neverSentStates } from '../../outgoing/lifecycle.js'
import { query } from '../../platform/database/database.js'
import { isRecreditable, type ReviewKind } from '../../withdrawals/reviews.js'
import { type Withdrawal, withdrawalColumns } from '../../withdrawals/withdrawal.js'
import { auditLines, byRequest, ledgerLines, linesAt, type WholeStory } from './story.js'

type Row = Withdrawal & {
  readonly sentAt: Date | null
  readonly dueAt: Date | null
  readonly attempts: number
  readonly looks: number
  readonly breakerSince: Date | null
  readonly frozen: boolean
}

/** A withdrawal from its request to its end, with its reviews and what operators did. */
export async function tellWithdrawal(
  db: Knex,
  reference: string,
  before: Date,
): Promise<WholeStory | undefined> {
  const [row] = await query<Row>(db, {
    name: 'trace.withdrawal',
    text: /* sql */ `
      select ${withdrawalColumns}, w.sent_at as "sentAt", w.due_at as "dueAt", w.attempts, w.looks,
        w.breaker_since as "breakerSince",
        (select f.frozen_at from users f where f.id = w.user_id) is not null as frozen from withdrawals w where w.reference = $1`,
    values: [reference],
  })
  if (row === undefined) return undefined
  const reviews = await query<Review>(db, {
    name: 'trace.reviews',
    text: /* sql */ `
      select created_at as at, resolved_at as "endedAt", kind as what, resolution from review_items
       where withdrawal_id = $1`,
    values: [row.id],
  })
  const key = `withdrawal:${reference}`
  return {
    kind: 'withdrawal',
    id: reference,
    facts: factsOf(row),
    lines: [
      ...linesAt({
        [`the creator asked for it${byRequest(row.requestId)}`]: row.createdAt,
        'the creator confirmed it': row.confirmedAt,
        [`it waits for the limit ${row.breaker}`]: row.waitsForBreaker ? row.breakerSince : null,
        [`the last of ${row.sends} requests to send it began`]: row.sentAt,
        'the provider accepted it': row.submittedAt,
        'the provider started it': row.processingAt,
        'it was paid': row.completedAt,
        [`it failed: ${row.failureReason}`]: row.failedAt,
        'it came back and was credited again': row.recreditedAt,
      }),
      ...reviews.flatMap(({ at, endedAt, what, resolution }) =>
        linesAt({ [`review opened: ${what}`]: at, [`review closed: ${what}: ${resolution}`]: endedAt }),
      ),
      ...(await ledgerLines(db, [key, `${key}:returned`])),
      ...(await auditLines(db, [`payout:${reference}`], before)),
    ],
    related: [{ kind: 'creator', id: row.userId }],
    commands: [
      ...commandsFor(
        row,
        reviews.filter(({ endedAt }) => endedAt === null).map(({ what }) => what),
      ),
      `payouts show ${reference}`,
    ],
  }
}

interface Review {
  readonly at: Date
  readonly endedAt: Date | null
  readonly what: ReviewKind
  readonly resolution: string | null
}

/** What a person could do now. Each command shows its plan, and acts with --apply. */
function commandsFor(row: Row, open: readonly ReviewKind[]): string[] {
  const { reference } = row
  const canRecredit = open.some(isRecreditable)
  return [
    ...(row.status === 'pending' ? pendingCommands(row) : []),
    ...(open.includes('mismatch') ? [`payouts resolve ${reference} --paid <naira>`] : []),
    ...(canRecredit ? [`payouts recredit ${reference}`] : []),
    ...(open.length > 0 ? [`payouts close ${reference}`] : []),
  ]
}

function pendingCommands({
  reference,
  userId,
  sendState,
  waitsForBreaker,
  waitsForDispute,
  frozen,
}: Row): string[] {
  const waitsForIdentity = sendState === 'identity_hold'
  const neverSent = neverSentStates.includes(sendState)
  const inReview = sendState === 'manual_review'
  return [
    ...(frozen ? [`unfreeze --user ${userId}`] : []),
    ...(waitsForIdentity ? [`verify-identity --user ${userId}`] : []),
    ...(waitsForIdentity || waitsForBreaker ? [`payouts release ${reference}`] : []),
    ...(waitsForDispute ? ['disputes', 'receivables'] : []),
    ...(neverSent ? [] : [`payouts ask ${reference}`]),
    ...(inReview ? [`payouts replay ${reference}`] : []),
    ...(neverSent || inReview ? [`payouts void ${reference}`] : []),
  ]
}

function factsOf(row: Row): string[] {
  const { status, sendState, heldMicro, netKobo, bankCode, lastFour, dueAt, looks, attempts, lastError } = row
  return [
    `A withdrawal of ${nairaText(netKobo)} for ${usdcText(heldMicro)} to the account ending in ${lastFour} at bank ${bankCode}: ${status}, ${sendState}.`,
    `The provider knows it as ${row.providerReference}.`,
    ...(row.waitsForDispute ? ['It waits for a dispute or a debt of its creator.'] : []),
    ...(dueAt === null
      ? []
      : [
          `It is looked at next at ${dueAt.toISOString()}; the provider was asked ${looks} times, ${attempts} attempts failed.`,
        ]),
    ...(lastError === null ? [] : [`Its last error: ${lastError}`]),
  ]
}
