import type { Knex } from 'knex'
import { nairaText, usdcText } from '../../kernel/money.js'
import { waitsForBreaker as waitsForBreakerSql } from '../../outgoing/guards.js'
import { hasEnded, neverSentStates } from '../../outgoing/lifecycle.js'
import { query } from '../../platform/database/database.js'
import { isRecreditable, type ReviewKind } from '../../withdrawals/reviews.js'
import { type Withdrawal, withdrawalColumns } from '../../withdrawals/withdrawal.js'
import { auditLines, byRequestSql, ledgerLines, readLines, type WholeStory } from './story.js'

type Row = Withdrawal & {
  readonly dueAt: Date | null
  readonly attempts: number
  readonly looks: number
  readonly frozen: boolean
  readonly openReviews: readonly ReviewKind[]
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
      select ${withdrawalColumns}, w.due_at as "dueAt", w.attempts, w.looks,
        (select f.frozen_at from users f where f.id = w.user_id) is not null as frozen,
        array(select kind::text from review_items where withdrawal_id = w.id and resolved_at is null order by created_at) as "openReviews"
      from withdrawals w where w.reference = $1`,
    values: [reference],
  })
  if (row === undefined) return undefined
  const key = `withdrawal:${reference}`
  return {
    kind: 'withdrawal',
    id: reference,
    facts: factsOf(row),
    lines: [
      ...(await readLines(db, 'withdrawal-life', lifeSql, [reference])),
      ...(await ledgerLines(db, [key, `${key}:returned`])),
      ...(await auditLines(db, [`payout:${reference}`], before)),
    ],
    related: [{ kind: 'creator', id: row.userId }],
    commands: [...commandsFor(row), `payouts show ${reference}`],
  }
}

const lifeSql = /* sql */ `
  select l.* from withdrawals w cross join lateral (values
      (w.created_at, 'the creator asked for it' || ${byRequestSql('w')}),
      (w.confirmed_at, 'the creator confirmed it'),
      (case when ${waitsForBreakerSql('w')} then w.breaker_since end, 'it waits for the limit ' || w.breaker),
      (w.sent_at, 'the last of ' || w.sends || ' requests to send it began'),
      (w.submitted_at, 'the provider accepted it'),
      (w.processing_at, 'the provider started it'),
      (w.completed_at, 'it was paid'),
      (w.failed_at, 'it failed: ' || w.failure_reason),
      (w.recredited_at, 'it came back and was credited again')) l
    where w.reference = $1
  union all select l.* from review_items r join withdrawals w on w.id = r.withdrawal_id cross join lateral (values
      (r.created_at, 'review opened: ' || r.kind),
      (r.resolved_at, 'review closed: ' || r.kind || ': ' || r.resolution)) l
    where w.reference = $1`

/** What a person could do now. Each command shows its plan, and acts with --apply. */
function commandsFor(row: Row): string[] {
  const { reference, openReviews: open } = row
  const canRecredit = open.some(isRecreditable)
  return [
    ...(row.status === 'pending' ? pendingCommands(row) : []),
    ...(open.includes('mismatch') || (open.includes('unknown') && row.status !== 'pending')
      ? [`payouts resolve ${reference} --paid <naira>`]
      : []),
    ...(canRecredit ? [`payouts recredit ${reference}`] : []),
    ...(open.length > 0 && hasEnded(row.status) ? [`payouts close ${reference}`] : []),
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
