import { centsWorth, displayNumber, microWorth, picoUsd } from '../../kernel/money.js'
import { tokenByMint } from '../../kernel/tokens.js'
import type { TipListItem } from '../schemas.js'

/** The columns every view of a tip is made from; `t` is the tip, `r` and `s` the parties that received and sent. */
const factColumns = /* sql */ `
  t.id, coalesce(r.wallet, '') as recipient, coalesce(s.wallet, t.sender) as sender, t.message, t.mint, t.decimals,
  t.display_raw as "displayRaw", t.received_raw as "receivedRaw", t.fiat_details as "fiatDetails"`

export const confirmedColumns = /* sql */ `${factColumns}, t.confirmed_at as "confirmedAt"`
export const listColumns = /* sql */ `${factColumns}, t.status, t.recorded_at as "recordedAt", r.user_id as "recipientId", s.user_id as "senderId"`

/** Contract: what a tip in naira is called where others have a token. */
export const fiatSymbol = 'FIAT'

/** Pico-dollars per dollar: the price of what is worth one by definition. */
const oneDollar = 10n ** 12n

/** What a fiat tip credits is micro-USDC; its amount is cents. */
const creditDecimals = 6

interface Facts {
  readonly id: string
  readonly recipient: string
  readonly sender: string
  readonly message: string | null
  /** Null: a fiat tip. */
  readonly mint: string | null
  readonly decimals: number
  readonly displayRaw: string
  /** In base units of the token, of a fiat tip in micro-USDC; null until it is paid. */
  readonly receivedRaw: string | null
  readonly fiatDetails: TipListItem['fiatDetails']
}
type Received = Pick<Facts, 'mint' | 'decimals'> & { readonly receivedRaw: string }
export interface ConfirmedTip extends Facts {
  readonly receivedRaw: string
  readonly confirmedAt: Date
}
/** A confirmed tip and what its token is worth. */
export type PricedTip = ConfirmedTip & Priced
interface Priced {
  /** Last known price in USD as decimal text, null if none was ever known. */
  readonly usd: string | null
}
export interface ListedTip extends Facts, Priced {
  readonly status: TipListItem['status']
  readonly recordedAt: Date
  readonly recipientId: string | null
  readonly senderId: string | null
}

/** A tip as the stream sends it (contract: Stream events); `valueUsd` besides, so that an alert can have a threshold. */
export function presentTipEvent(tip: PricedTip) {
  return {
    type: 'tip',
    amount: amountOf(tip),
    receivedAmount: receivedOf(tip),
    tokenSymbol: symbolOf(tip.mint),
    sender: tip.sender,
    message: tip.message,
    timestamp: tip.confirmedAt.toISOString(),
    valueUsd: valueUsd(tip),
  }
}

/** A tip as the list shows it (contract: Tip list item). */
export function presentListItem(tip: ListedTip): TipListItem {
  return {
    signature: tip.id,
    recipient: tip.recipient,
    recipient_id: tip.recipientId,
    sender: tip.sender,
    sender_id: tip.senderId,
    amount: amountOf(tip),
    receivedAmount: tip.receivedRaw === null ? null : receivedOf({ ...tip, receivedRaw: tip.receivedRaw }),
    tokenSymbol: symbolOf(tip.mint),
    message: tip.message,
    timestamp: tip.recordedAt.toISOString(),
    status: tip.status,
    valueUsd: valueUsd(tip),
    isStable: isStable(tip.mint),
    fiatDetails: tip.fiatDetails,
  }
}

function amountOf({ displayRaw, decimals }: Facts): number {
  return displayNumber(BigInt(displayRaw), decimals)
}

/** What the creator received, in display units. */
export function receivedOf({ mint, decimals, receivedRaw }: Received): number {
  return displayNumber(BigInt(receivedRaw), mint === null ? creditDecimals : decimals)
}

/** The symbol of a known token, else its mint; `FIAT` for a tip in naira. */
export function symbolOf(mint: string | null): string {
  return mint === null ? fiatSymbol : (tokenByMint(mint)?.symbol ?? mint)
}

/** Worth a dollar by definition, so it needs no price; the amount of a fiat tip is in dollars. */
function isStable(mint: string | null): boolean {
  return mint === null || tokenByMint(mint)?.stable === true
}

type Valued = Pick<ListedTip, 'displayRaw' | 'mint' | 'decimals' | 'usd'>

/** What an amount is worth in micro-dollars, by the same rule as `valueUsd` but before rounding to the cent. */
export function microUsd({ displayRaw, mint, decimals, usd }: Valued): bigint {
  const price = isStable(mint) ? oneDollar : usd === null ? undefined : picoUsd(Number(usd))
  return price === undefined ? 0n : microWorth(BigInt(displayRaw), decimals, price)
}

/** Stablecoins at face value, other tokens at the last known price, to the cent; 0 if none was ever known. */
function valueUsd(tip: Valued): number {
  const units = BigInt(tip.displayRaw)
  if (isStable(tip.mint)) return displayNumber(units, tip.decimals)
  const price = tip.usd === null ? undefined : picoUsd(Number(tip.usd))
  return price === undefined ? 0 : displayNumber(centsWorth(units, tip.decimals, price), 2)
}
