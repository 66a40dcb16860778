import type { Knex } from 'knex'
import type { OwnReference } from '../intents/own-reference.js'
import { namedOrigin, type Origin, originColumns } from '../kernel/trace-context.js'
import { query, write } from '../platform/database/database.js'
import type { UnitOfWork } from '../platform/database/transact.js'
import { recordTipEvents } from './describe-tips.js'
import { advanceTips } from './lifecycle.js'
import { addToSums } from './read/daily-sums.js'
import type { TipListItem } from './schemas.js'

export interface NewFiatTip {
  /** The `fiatpay_` intent id. */
  readonly id: string
  readonly userId: string
  /** Display name of the supporter. */
  readonly sender: string
  readonly message: string | null
  readonly amountCents: bigint
  readonly details: NonNullable<TipListItem['fiatDetails']>
  readonly origin: Origin
  readonly own: OwnReference
}

/** Records a pending fiat tip. The fiat intent is the work row, so the tip itself is never due. */
export async function recordFiatTip(trx: Knex, tip: NewFiatTip): Promise<void> {
  await write(trx, {
    name: 'tips.fiat-record',
    text: /* sql */ `
      insert into tips (id, kind, sender, amount, token_symbol, message, recipient_party, display_raw, decimals, fiat_details, due_at,
        request_id, trace_id, reference, metadata)
      values ($1, 'fiat', $3, $5::numeric / 100, 'FIAT', $4, (select id from parties where user_id = $2), $5, 2, $6, null, $7, $8, $9, $10)`,
    values: [
      tip.id,
      tip.userId,
      tip.sender,
      tip.message,
      tip.amountCents,
      JSON.stringify(tip.details),
      tip.origin.requestId,
      tip.origin.traceId,
      tip.own.reference,
      tip.own.metadata,
    ],
  })
}

export interface LockedFiatTip {
  readonly status: TipListItem['status']
  readonly requestId: string | null
}

/** Locks a fiat tip until the transaction ends, so that two settlements of it run one after the other. */
export async function lockFiatTip(trx: Knex, id: string): Promise<LockedFiatTip | undefined> {
  const [row] = await query<LockedFiatTip>(trx, {
    name: 'tips.fiat-lock',
    text: 'select status, request_id as "requestId" from tips where id = $1 for no key update',
    values: [id],
  })
  return row
}

export interface FiatConfirmation {
  readonly id: string
  readonly amountCents: bigint
  readonly creditedMicro: bigint
  readonly details: NonNullable<TipListItem['fiatDetails']>
}

const confirmation = advanceTips('confirmed')

/**
 * Confirms a fiat tip from any other status (docs/decisions/0018). The statement moves the recipient's cursor first and
 * takes the stamp from it, as for chain tips (docs/decisions/0025): the stamp is later than every stamp a reader may
 * have seen. Ends the SDK session in which it was asked for. Returns false when the tip was already confirmed.
 */
export async function confirmFiatTip(
  uow: Pick<UnitOfWork, 'trx' | 'log' | 'atEnd'>,
  tip: FiatConfirmation,
): Promise<boolean> {
  const { trx, log } = uow
  const rows = await query<EndedTip>(trx, {
    name: 'tips.fiat-confirm',
    text: /* sql */ `
      with open as materialized (
        select id, recipient_party, recorded_at, decimals from tips
        where id = $1 and ${confirmation.from} for no key update
      ), cursor as (
        insert into creator_cursors as c (party_id, last_at)
        select recipient_party, date_trunc('milliseconds', clock_timestamp()) from open
        on conflict (party_id) do update
          set last_at = greatest(date_trunc('milliseconds', clock_timestamp()), c.last_at + interval '1 ms')
        returning last_at
      ), summed as (
        ${addToSums(`select o.recipient_party as party, o.recorded_at, null::text as mint, o.decimals, 1 as n, $2::numeric as raw
          from open o, cursor`)}
      ), consumed as (
        update sdk_sessions set consumed_at = clock_timestamp()
        where consumed_at is null and id = (select f.sdk_session_id from fiat_intents f join open o using (id))
      )
      update tips t set ${confirmation.set}, confirmed_at = c.last_at, listed = true,
        display_raw = $2, received_raw = $3, fiat_details = $4
      from open o, cursor c where t.id = o.id
      returning t.id, ${originColumns('t')}`,
    values: [tip.id, tip.amountCents, tip.creditedMicro, JSON.stringify(tip.details)],
  })
  for (const { id, ...origin } of rows)
    log({ tip: id, ...namedOrigin(origin) }, 'a naira tip was paid and confirmed')
  recordTipEvents(uow, 'tip.confirmed', rows)
  recordTipEvents(uow, 'naira.completed', rows)
  return rows.length > 0
}

interface EndedTip extends Origin {
  readonly id: string
}

/** What is added to a confirmed fiat tip. */
export interface FiatAddition {
  readonly id: string
  readonly creditMicro: bigint
  readonly revenueMicro: bigint
  /** What counted of all its payments, in kobo. */
  readonly countedKobo: bigint
}

/** Adds money to a confirmed fiat tip: it shows the sum. Its stamp stays, so that no reader sees it twice. */
export async function addToFiatTip(trx: Knex, addition: FiatAddition): Promise<void> {
  const { id, creditMicro, revenueMicro, countedKobo } = addition
  await write(trx, {
    name: 'tips.fiat-add',
    text: /* sql */ `
      with added as (
        update tips set display_raw = display_raw + round(($2::numeric + $3::numeric) / 10000),
          received_raw = received_raw + $2::numeric,
          fiat_details = fiat_details || jsonb_build_object(
            'platformFee', (fiat_details->>'platformFee')::numeric + $3::numeric / 1000000,
            'finalAmountUsd', (received_raw + $2::numeric) / 1000000, 'amountNgn', $4::numeric / 100)
        where id = $1 and status = 'confirmed'
        returning recipient_party, recorded_at, decimals
      )
      ${addToSums(`select recipient_party as party, recorded_at, null::text as mint, decimals, 0 as n,
        round(($2::numeric + $3::numeric) / 10000) as raw from added`)}`,
    values: [id, creditMicro, revenueMicro, countedKobo],
  })
}

/**
 * Shows how much of a fiat tip went back to its payer, in cents of its amount. The amount, the status and the daily figures stay: it
 * was given.
 */
export async function showRefunded(trx: Knex, id: string, cents: bigint): Promise<void> {
  await write(trx, {
    name: 'tips.fiat-refunded',
    text: /* sql */ `
      update tips set fiat_details = (fiat_details - 'refundedAmount')
        || case when $2::numeric = 0 then '{}'::jsonb else jsonb_build_object('refundedAmount', $2::numeric / 100) end
      where id = $1`,
    values: [id, cents],
  })
}

/** Shows the creator whether a dispute about a fiat tip is under way, and until when they can say something about it. */
export async function showDisputed(
  trx: Knex,
  id: string,
  disputed: boolean,
  replyBy: Date | null,
): Promise<void> {
  await write(trx, {
    name: 'tips.fiat-disputed',
    text: /* sql */ `
      update tips set fiat_details = (fiat_details - 'disputed' - 'replyBy') || $2::jsonb where id = $1`,
    values: [
      id,
      JSON.stringify(
        disputed ? { disputed, ...(replyBy !== null && { replyBy: replyBy.toISOString() }) } : {},
      ),
    ],
  })
}

/** Ends pending fiat tips without a credit. Returns those that were pending. Locks them in the order of their ids. */
export async function endFiatTips(
  uow: Pick<UnitOfWork, 'trx' | 'log' | 'atEnd'>,
  ids: readonly string[],
  status: 'failed' | 'cancelled',
): Promise<string[]> {
  const { trx, log } = uow
  const { set, from } = advanceTips(status, ['pending'])
  const rows = await query<EndedTip>(trx, {
    name: `tips.fiat-${status}`,
    text: /* sql */ `
      with pending as materialized (
        select id from tips where id = any($1::text[]) and ${from} order by id for no key update)
      update tips t set ${set} from pending p where t.id = p.id returning t.id, ${originColumns('t')}`,
    values: [ids],
  })
  const text =
    status === 'failed' ? 'a naira tip failed' : 'a naira tip was cancelled: it was not paid in time'
  for (const { id, ...origin } of rows) log({ tip: id, ...namedOrigin(origin) }, text)
  recordTipEvents(uow, `naira.${status}`, rows)
  return rows.map(({ id }) => id)
}

export async function unlistFiatTips(trx: Knex, ids: readonly string[]): Promise<void> {
  await write(trx, {
    name: 'tips.fiat-unlist',
    text: `update tips set listed = false where id = any($1::text[]) and status = 'cancelled'`,
    values: [ids],
  })
}
