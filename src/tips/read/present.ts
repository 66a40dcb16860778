import { type OwnReference, presentOwnReference } from '../../intents/own-reference.js'
import { centsWorth, displayNumber, microWorth, picoUsd } from '../../kernel/money.js'
import { tokenByMint } from '../../kernel/tokens.js'
import { fiatSymbol, type TipListItem } from '../schemas.js'
import type { CreatorTip } from './creator-schemas.js'

/** The columns of every view of a tip: `t` is the tip, `r` the party that received it and `s` the party that sent it. */
const factColumns = /* sql */ `
  coalesce(t.main_id, t.id) as id, coalesce(t.paid_wallet, r.wallet, '') as recipient, coalesce(s.wallet, t.sender) as sender, t.sender_name as "senderName", t.message, t.mint, t.decimals,
  t.display_raw as "displayRaw", t.received_raw as "receivedRaw", t.fiat_details as "fiatDetails", t.reference, t.metadata`

export const confirmedColumns = /* sql */ `${factColumns}, t.confirmed_at as "confirmedAt"`
/** Whether the creator wants the words of this tip only once it is paid. Only unpaid tips cost the extra read. */
const hidesWords = /* sql */ `
  case when t.status = 'confirmed' then false
       else coalesce((select (u.settings ->> 'hideUnpaidWords')::boolean from users u where u.id = r.user_id), false) end`

export const listColumns = /* sql */ `${factColumns}, ${hidesWords} as "hidesWords", t.status, t.recorded_at as "recordedAt", r.user_id as "recipientId", s.user_id as "senderId"`

/** Only unpaid tips cost the read. */
export const arrivedColumn = /* sql */ `
  case when t.kind = 'fiat' and t.status in ('failed', 'cancelled') then (
    select json_build_object('kobo', sum(i.kobo)::text, 'state', case when bool_or(i.state = 'waiting') then 'waiting'
        when bool_or(i.state = 'refunding') then 'going_back' else 'given_back' end)
    from fiat_payments f join suspense_items i using (provider_transaction) where f.intent_id = t.id having count(*) > 0) end as arrived`

/** The name of a supporter who pays anonymously, or whose words are withheld. */
export const withheldName = 'Anonymous'

/** The price of a stablecoin and of a dollar amount, in pico-dollars. */
const oneDollar = 10n ** 12n

/** The amount of a fiat tip is in cents, but its credit is in micro-USDC. */
const creditDecimals = 6

interface TipColumns extends OwnReference {
  readonly id: string
  readonly recipient: string
  readonly sender: string
  readonly senderName: string | null
  readonly message: string | null
  /** Null for a fiat tip. */
  readonly mint: string | null
  readonly decimals: number
  readonly displayRaw: string
  /** Base units of the token; micro-USDC for a fiat tip. Null until it is paid. */
  readonly receivedRaw: string | null
  /** Also how much was given back, and whether it is disputed, which only its creator is shown. */
  readonly fiatDetails:
    | (TipListItem['fiatDetails'] & Pick<CreatorTip, 'refundedAmount' | 'disputed' | 'replyBy'>)
    | null
}
type Received = Pick<TipColumns, 'mint' | 'decimals'> & { readonly receivedRaw: string }
export interface ConfirmedTip extends TipColumns {
  readonly receivedRaw: string
  readonly confirmedAt: Date
}
export type PricedTip = ConfirmedTip & Priced
interface Priced {
  /** Last known price in USD as decimal text; null when the token never had a price. */
  readonly usd: string | null
}
/** What arrived of a naira tip that was paid too little, and what becomes of it. */
interface Arrived {
  /** As text. */
  readonly kobo: string
  readonly state: NonNullable<CreatorTip['arrivedState']>
}
export interface ListedTip extends TipColumns, Priced {
  readonly status: TipListItem['status']
  readonly recordedAt: Date
  readonly hidesWords: boolean
  readonly recipientId: string | null
  readonly senderId: string | null
  /** Only read for the creator's own list. */
  readonly arrived?: Arrived | null
}

/** The channel that notifies the readers of a wallet of new confirmed tips. */
export const tipChannel = (wallet: string): string => `tips.${wallet}`

/**
 * A stream event (API: GET /chain/tips/stream). `valueUsd` lets an alert have a threshold. With `eventId` a reader knows a tip again
 * that was confirmed anew after a restore.
 */
export function presentTipEvent(tip: PricedTip) {
  return {
    type: 'tip',
    eventId: tip.id,
    amount: amountOf(tip),
    receivedAmount: receivedOf(tip),
    tokenSymbol: symbolOf(tip.mint),
    sender: tip.sender,
    ...presentSenderName(tip),
    ...(tip.fiatDetails !== null && { amountNgn: tip.fiatDetails.amountNgn }),
    message: tip.message,
    timestamp: tip.confirmedAt.toISOString(),
    valueUsd: valueUsd(tip),
  }
}

export function presentCreatorTip(tip: ListedTip): CreatorTip {
  const { disputed, replyBy } = tip.fiatDetails ?? {}
  return {
    ...presentListItem(tip),
    ...(disputed !== undefined && { disputed }),
    ...(replyBy !== undefined && { replyBy }),
    ...presentSenderName(tip),
    ...arrivedOf(tip),
    ...presentOwnReference(tip),
  }
}

/** Absent where none was given, so that who does not know it sees nothing new. */
export function presentSenderName({ senderName }: Pick<TipColumns, 'senderName'>) {
  return senderName === null ? {} : { senderName }
}

function arrivedOf({
  arrived,
  fiatDetails,
}: ListedTip): Pick<CreatorTip, 'arrivedNgn' | 'shortNgn' | 'arrivedState'> {
  if (arrived == null || fiatDetails === null) return {}
  const kobo = BigInt(arrived.kobo)
  const missing = BigInt(Math.round(fiatDetails.amountNgn * 100)) - kobo
  return {
    arrivedNgn: displayNumber(kobo, 2),
    shortNgn: displayNumber(missing > 0n ? missing : 0n, 2),
    arrivedState: arrived.state,
  }
}

export function presentListItem(tip: ListedTip): TipListItem {
  return {
    signature: tip.id,
    recipient: tip.recipient,
    recipient_id: tip.recipientId,
    sender: tip.hidesWords ? withheldName : tip.sender,
    sender_id: tip.senderId,
    amount: amountOf(tip),
    receivedAmount: tip.receivedRaw === null ? null : receivedOf({ ...tip, receivedRaw: tip.receivedRaw }),
    tokenSymbol: symbolOf(tip.mint),
    message: tip.hidesWords ? null : tip.message,
    timestamp: tip.recordedAt.toISOString(),
    status: tip.status,
    valueUsd: valueUsd(tip),
    isStable: isStable(tip.mint),
    fiatDetails: fiatDetailsOf(tip),
    ...refundedOf(tip),
  }
}

function fiatDetailsOf({ fiatDetails }: TipColumns): TipListItem['fiatDetails'] {
  if (fiatDetails === null) return null
  const { platformFee, finalAmountUsd, amountNgn } = fiatDetails
  return { platformFee, finalAmountUsd, amountNgn }
}

function refundedOf({ fiatDetails }: TipColumns): Pick<TipListItem, 'refundedAmount'> {
  const refundedAmount = fiatDetails?.refundedAmount
  return refundedAmount === undefined ? {} : { refundedAmount }
}

function amountOf({ displayRaw, decimals }: TipColumns): number {
  return displayNumber(BigInt(displayRaw), decimals)
}

/** The amount the creator received, in display units. */
export function receivedOf({ mint, decimals, receivedRaw }: Received): number {
  return displayNumber(BigInt(receivedRaw), mint === null ? creditDecimals : decimals)
}

/** The symbol of a known token, otherwise its mint. `FIAT` for a fiat tip. */
export function symbolOf(mint: string | null): string {
  return mint === null ? fiatSymbol : (tokenByMint(mint)?.symbol ?? mint)
}

/** Worth one dollar per unit, so it needs no price. The amount of a fiat tip is in dollars. */
function isStable(mint: string | null): boolean {
  return mint === null || tokenByMint(mint)?.stable === true
}

type Valued = Pick<ListedTip, 'displayRaw' | 'mint' | 'decimals' | 'usd'>

/** The value in micro-dollars: the rule of `valueUsd`, before it is rounded to the cent. */
export function microUsd({ displayRaw, mint, decimals, usd }: Valued): bigint {
  const price = isStable(mint) ? oneDollar : usd === null ? undefined : picoUsd(Number(usd))
  return price === undefined ? 0n : microWorth(BigInt(displayRaw), decimals, price)
}

/** The value to the cent: face value for stablecoins, otherwise at the last known price. 0 without a price. */
export function valueUsd(tip: Valued): number {
  const units = BigInt(tip.displayRaw)
  if (isStable(tip.mint)) return displayNumber(units, tip.decimals)
  const price = tip.usd === null ? undefined : picoUsd(Number(tip.usd))
  return price === undefined ? 0 : displayNumber(centsWorth(units, tip.decimals, price), 2)
}
