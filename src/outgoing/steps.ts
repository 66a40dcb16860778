import type { Knex } from 'knex'
import { sqlList, stepsBetween } from '../kernel/state-machine.js'
import { query, write } from '../platform/database/database.js'
import { runsLockedSql } from '../platform/database/switches/switches.js'
import type { LogLine, UnitOfWork } from '../platform/database/transact.js'
import { type Asked, looksUp, requireUnsent } from './guards.js'
import type {
  DueToSend,
  End,
  LockedOutgoing,
  Outgoing,
  OutgoingEnds,
  OutgoingKind,
  SendingKind,
} from './kind.js'
import {
  acceptableStates,
  checkSendStep,
  type OutgoingStatus,
  providerSteps,
  type SendState,
  unansweredStates,
} from './lifecycle.js'

// The changes of `status` and `send_state` of money that leaves by the naira provider, each a function with its statement; how a
// hold ends is in src/withdrawals/confirmation/release.ts, and what is asked about before it is sent again in
// src/withdrawals/work-queue.ts. A statement changes nothing when the row is in another state, and PostgreSQL refuses a step that
// lifecycle.ts does not list; of two steps in one update, the first has left its time.

/** Where a step is taken: a unit of work, or a pool for a step that is a statement of its own. */
export interface StepPlace {
  readonly trx: Knex
  readonly log: LogLine
}

type Of = Pick<OutgoingEnds, 'table' | 'fieldsOf'>
type Changed = Of & Pick<OutgoingEnds, 'columns'>

const maxText = 200

/** What the log says of a step, by the status or send state that it leads to. */
const stepTexts: Readonly<Record<SendState | OutgoingStatus, (subject: string) => string>> = {
  identity_hold: (subject) => `${subject} waits for the identity of its creator`,
  confirmation_hold: (subject) => `${subject} waits for the confirmation of its creator`,
  not_sent: (subject) => `${subject} is due to be sent`,
  sending: (subject) => `${subject} is being sent`,
  unknown: (subject) => `nobody knows whether ${subject} was sent: the provider is asked`,
  resend: (subject) => `${subject} is due to be sent again`,
  sent: (subject) => `the provider has ${subject}`,
  manual_review: (subject) => `${subject} waits for an operator`,
  refused: (subject) => `${subject} failed unpaid, and its money is back`,
  pending: (subject) => `${subject} is pending`,
  submitted: (subject) => `the provider accepted ${subject}`,
  processing: (subject) => `the provider has started ${subject}`,
  completed: (subject) => `${subject} was paid`,
  failed: (subject) => `${subject} failed, and its money is back`,
}

export function logStep(
  { log }: Pick<StepPlace, 'log'>,
  { table, fieldsOf }: Of,
  row: Outgoing,
  to: SendState | OutgoingStatus,
): void {
  log({ ...fieldsOf(row), to }, stepTexts[to](table.subject))
}

/** The columns of what was learned, with their parameters from this number on, as SQL after other columns. */
export function learnedSql(learns: readonly string[], first: number): string {
  return learns.map((column, index) => `, ${column} = coalesce($${first + index}, ${column})`).join('')
}

/** One request to send a row. */
export interface Sending {
  /** The number of requests that may have reached the provider, this one included. */
  readonly sends: number
  /** When it began. Distinguishes it from other requests. */
  readonly at: Date
}

/**
 * A request is about to be sent: committed before its first byte is. Takes the lock of the switch before that of the row. Undefined:
 * this worker may not send it any more. A worker may have taken it before its account was frozen, before a dispute, or before a
 * restore since whose acceptance it must be looked up. Called by send.ts.
 */
export async function beginSending(
  place: StepPlace,
  kind: Of & Pick<SendingKind, 'mayLeave' | 'learns'>,
  due: DueToSend,
  learned: readonly unknown[],
  leaseSeconds: number,
): Promise<Sending | undefined> {
  checkSendStep(due.sendState, 'sending')
  const { table, name } = kind.table
  const [row] = await query<Sending>(place.trx, {
    name: `${name}.sending`,
    text: /* sql */ `
      update ${table} set send_state = 'sending', sends = sends + 1, sent_at = clock_timestamp(), looks = 0, last_error = null,
        due_at = clock_timestamp() + $4::float8 * interval '1 second'${learnedSql(kind.learns, 6)}
      where id = $1 and status = 'pending' and send_state = $2 and attempts = $3 and ${looksUp(table)} = $5 and ${kind.mayLeave}
        and ${runsLockedSql('payouts')}
      returning sends, sent_at as at`,
    values: [due.id, due.sendState, due.attempts, leaseSeconds, due.looksUp, ...learned],
  })
  if (row !== undefined) logStep(place, kind, due, 'sending')
  return row
}

/**
 * Nothing was executed, and the payee is not the reason: it is sent again after a pause. `sending`: the only request so far. Undefined:
 * there was none. Called by send.ts.
 */
export async function setUnsent(
  place: StepPlace,
  kind: Of,
  due: DueToSend,
  error: string,
  pauseSeconds: number,
  sending?: Sending,
): Promise<void> {
  const { table, name } = kind.table
  const rows = await query(place.trx, {
    name: `${name}.unsent`,
    text: /* sql */ `
      update ${table} set send_state = 'not_sent', sends = 0, sent_at = null, last_error = left($2, ${maxText}),
        due_at = clock_timestamp() + $3::float8 * interval '1 second'
      where id = $1 and status = 'pending' and case when $5::timestamptz is null then send_state = 'not_sent' and attempts = $4
        else send_state in (${sqlList(unansweredStates)}) and sends = 1 and sent_at = $5 end
      returning 1`,
    values: [due.id, error, pauseSeconds, due.attempts, sending?.at ?? null],
  })
  if (sending !== undefined && rows.length > 0) logStep(place, kind, due, 'not_sent')
}

/** It may have been executed. From now on the provider is asked, and nothing is sent. Called by send.ts. */
export async function setUnknown(
  place: StepPlace,
  kind: Of,
  due: DueToSend,
  error: string,
  pauseSeconds: number,
): Promise<void> {
  const { table, name } = kind.table
  const rows = await query(place.trx, {
    name: `${name}.unknown`,
    text: /* sql */ `
      update ${table} set send_state = 'unknown', last_error = left($2, ${maxText}),
        due_at = clock_timestamp() + $3::float8 * interval '1 second'
      where id = $1 and status = 'pending' and send_state = 'sending' returning 1`,
    values: [due.id, error, pauseSeconds],
  })
  if (rows.length > 0) logStep(place, kind, due, 'unknown')
}

/** The provider shows a request of a row that was to be sent again: it is followed now. Called by send.ts. */
export async function setShownAgain(place: StepPlace, kind: Of, due: DueToSend): Promise<void> {
  const { table, name } = kind.table
  const rows = await query(place.trx, {
    name: `${name}.shown-again`,
    text: /* sql */ `
      update ${table} set send_state = 'unknown', due_at = clock_timestamp()
      where id = $1 and status = 'pending' and send_state = 'resend' and attempts = $2 returning 1`,
    values: [due.id, due.attempts],
  })
  if (rows.length > 0) logStep(place, kind, due, 'unknown')
}

/**
 * The provider accepted it. This counts in every state that a request may have led to. Returns the row in the kind's columns; undefined:
 * it is in another state. Called by send.ts.
 */
export async function setAccepted(
  uow: UnitOfWork,
  kind: Changed,
  due: DueToSend,
  providerId: string | undefined,
  pauseSeconds: number,
): Promise<Outgoing | undefined> {
  const { table, name } = kind.table
  const [row] = await query<Outgoing>(uow.trx, {
    name: `${name}.accepted`,
    text: /* sql */ `
      update ${table} w set status = 'submitted', submitted_at = clock_timestamp(), send_state = 'sent', provider_id = $2, looks = 0,
        last_error = null, due_at = clock_timestamp() + $3::float8 * interval '1 second'
      where id = $1 and status = 'pending' and send_state in (${sqlList(acceptableStates)}) returning ${kind.columns}`,
    values: [due.id, providerId ?? null, pauseSeconds],
  })
  if (row !== undefined) logStep(uow, kind, due, 'submitted')
  return row
}

/** What the provider's silence or another amount means for the sending of a locked row. Called by follow.ts. */
export async function setSendState(
  uow: UnitOfWork,
  kind: Of,
  row: LockedOutgoing,
  to: 'unknown' | 'resend' | 'manual_review',
): Promise<void> {
  if (row.sendState === to) return
  checkSendStep(row.sendState, to)
  const { table, name } = kind.table
  await write(uow.trx, {
    name: `${name}.state`,
    text: `update ${table} set send_state = $2 where id = $1 and status = 'pending' and send_state = $3`,
    values: [row.id, to, row.sendState],
  })
  logStep(uow, kind, row, to)
}

/** An operator has a locked row sent now: for the first time, or once more. */
export async function replay<Row extends LockedOutgoing>(
  uow: UnitOfWork,
  kind: OutgoingKind<Row>,
  row: Row,
): Promise<void> {
  const to = row.sendState === 'not_sent' ? 'not_sent' : 'resend'
  checkSendStep(row.sendState, to)
  const { table, name } = kind.table
  await write(uow.trx, {
    name: `${name}.replay`,
    text: /* sql */ `
      update ${table} set send_state = $2, due_at = clock_timestamp(), last_error = null, replays = replays + 1
      where id = $1 and status = 'pending' and send_state = $3`,
    values: [row.id, to, row.sendState],
  })
  if (to === 'resend') logStep(uow, kind, row, to)
  kind.wakeSender(uow, { ...row, replays: row.replays + 1 })
}

export interface ProviderAnswer {
  /** Null: keep the id that is recorded. */
  readonly providerId: string | null
  readonly reason: string | null
  /** What it took for it. Counts if it ends as paid. */
  readonly feeKobo: bigint
}

/**
 * Moves a locked row to the status that the provider shows, through every status between, with the money of its end, which also ends the
 * work on it. The statement of `completed` takes the step to `processing` too. Returns the row in the kind's columns. Does nothing when
 * no path leads there from the current status. Called by follow.ts and by operators.
 */
export async function advanceTo<Row extends LockedOutgoing>(
  uow: UnitOfWork,
  kind: OutgoingEnds<Row>,
  row: Row,
  target: OutgoingStatus,
  { providerId, reason, feeKobo }: ProviderAnswer,
): Promise<Outgoing> {
  const path = stepsBetween(providerSteps, row.status, target)
  let after: Outgoing = row
  let from = row.status
  for (const { to } of path) {
    if (to === 'processing' && target === 'completed') {
      logStep(uow, kind, row, to)
      continue
    }
    const end = endOf(to, reason, feeKobo)
    const transfer = end && (await kind.moveMoney(uow, row, end))
    checkSendStep(after.sendState, 'sent')
    const states = { from, sendState: after.sendState, to }
    const changed = await setShown(uow, kind, row.id, states, { providerId, transfer, end })
    after = { ...changed, sendState: 'sent' }
    from = to
    logStep(uow, kind, row, to)
    if (end !== undefined) await kind.afterEnd(uow, row, end)
  }
  if (path.length > 0)
    kind.announce(
      uow,
      after,
      path.map(({ to }) => to),
    )
  return after
}

/** One status that the provider shows. */
async function setShown(
  { trx }: UnitOfWork,
  { table: { table, name, feeColumn }, columns }: Changed,
  id: string,
  { from, sendState, to }: { from: OutgoingStatus; sendState: SendState; to: OutgoingStatus },
  {
    providerId,
    transfer,
    end,
  }: { providerId: string | null; transfer: bigint | null | undefined; end: End | undefined },
): Promise<Outgoing> {
  const fee = end?.status === 'completed' && feeColumn !== undefined ? end.feeKobo : undefined
  const started = to === 'completed' ? 'processing_at = coalesce(processing_at, clock_timestamp()), ' : ''
  const [row] = await query<Outgoing>(trx, {
    name: `${name}.${to}`,
    text: /* sql */ `
      update ${table} w set status = '${to}', ${started}${to}_at = clock_timestamp(), send_state = 'sent',
        provider_id = coalesce($2, provider_id), resolution_transfer = $3, failure_reason = $4, last_error = null
        ${end === undefined ? '' : ', due_at = null'}${fee === undefined ? '' : `, ${feeColumn} = $7`}
      where id = $1 and status = $6 and send_state = $5 returning ${columns}`,
    values: [
      id,
      providerId,
      transfer ?? null,
      end?.status === 'failed' ? end.reason : null,
      sendState,
      from,
      ...(fee === undefined ? [] : [fee]),
    ],
  })
  if (row === undefined) throw new Error(`${table} ${id} is locked and has changed`)
  return row
}

function endOf(status: OutgoingStatus, reason: string | null, feeKobo: bigint): End | undefined {
  if (status === 'completed') return { status, feeKobo }
  return status === 'failed' ? { status, reason: failureText(reason), wasSent: true } : undefined
}

function failureText(reason: string | null): string {
  return (reason || 'The payout failed').slice(0, maxText)
}

export interface Unpaid {
  readonly reason: string
  /** What the provider says that it has. */
  readonly asked: Asked
  /** The operators' command for one that the provider has. */
  readonly adopt: string
}

/**
 * Fails a locked row and gives all of its money back. The caller has made sure that it was not executed, as far as these rows can know it.
 * Returns the row in the kind's columns. Throws as `requireUnsent`. Called by send.ts, by a creator who cancels, and by operators.
 */
export async function failUnpaid<Row extends LockedOutgoing>(
  uow: UnitOfWork,
  kind: OutgoingEnds<Row>,
  row: Row,
  { reason, asked, adopt }: Unpaid,
): Promise<Outgoing> {
  await requireUnsent(uow, kind.table, row.id, asked, adopt)
  checkSendStep(row.sendState, 'refused')
  const end = { status: 'failed', reason: failureText(reason), wasSent: false } as const
  const { table, name } = kind.table
  const [refused] = await query<Outgoing>(uow.trx, {
    name: `${name}.refused`,
    text: /* sql */ `
      update ${table} w set status = 'failed', failed_at = clock_timestamp(), send_state = 'refused', resolution_transfer = $2,
        failure_reason = $3, due_at = null, last_error = null
      where id = $1 and status = 'pending' and send_state = $4 returning ${kind.columns}`,
    values: [row.id, await kind.moveMoney(uow, row, end), end.reason, row.sendState],
  })
  if (refused === undefined) throw new Error(`${table} ${row.id} is locked and has changed`)
  logStep(uow, kind, row, 'refused')
  await kind.afterEnd(uow, row, end)
  kind.announce(uow, refused, ['failed'])
  return refused
}
