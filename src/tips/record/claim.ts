import { hash } from 'node:crypto'
import type { Knex } from 'knex'
import { DomainError } from '../../kernel/errors.js'
import { isIntentId } from '../../kernel/ids.js'
import { baseUnits, displayText } from '../../kernel/money.js'
import { cleanLine } from '../../kernel/text.js'
import { tokenBySymbol } from '../../kernel/tokens.js'
import { noOrigin, type Origin } from '../../kernel/trace-context.js'
import { query } from '../../platform/database/database.js'
import type { RecordTipInput } from '../schemas.js'

/** What a caller says about a transaction. Unproven until the chain confirms it (docs/decisions/0006). */
export interface Claim {
  readonly creatorWallet: string
  readonly sender: string
  /** Decimal text, as stored until confirmation: SOL divided by 1e9, other tokens as sent by the caller. */
  readonly amount: string
  readonly tokenSymbol: string
  readonly message: string | null
  readonly intentId: string | null
}

export interface SignedClaim extends Claim, Origin {
  readonly signature: string
  /** SHA-256 over the fields. Equal claims of one signature are stored once. */
  readonly hash: Buffer
}

const maxSymbol = 20
/** The amount of a claim in SOL, or without a token symbol, is stored divided by 10^9. */
export const solDecimals = 9
/** Decimals stored for an amount in display units. No listed token has more. */
const claimDecimals = 12

/** The claim in a parsed request with its cleaned message. Throws `invalid_tip_amount`. */
export function claimFromRequest(
  input: RecordTipInput,
  message: string | null,
  { requestId, traceId }: Origin = noOrigin,
): SignedClaim {
  const symbol = cleanLine(input.tokenSymbol ?? '', maxSymbol) || 'SOL'
  const tokenSymbol = tokenBySymbol(symbol)?.symbol ?? symbol
  const claim: Claim = {
    creatorWallet: input.creatorWallet,
    sender: input.senderWallet,
    amount: storedAmount(input.tipAmount, tokenSymbol === 'SOL'),
    tokenSymbol,
    message,
    intentId: input.intentId !== undefined && isIntentId(input.intentId) ? input.intentId : null,
  }
  return { ...withHash(input.txSignature, claim), requestId, traceId }
}

/** The claim for a payment that the finder found on the chain, so no request made it. `units`: base units of the input token. */
export function claimFromPayment({
  signature,
  units,
  ...fields
}: Omit<Claim, 'amount' | 'message'> & { signature: string; units: bigint }): SignedClaim {
  const amount = fields.tokenSymbol === 'SOL' ? displayText(units, solDecimals) : String(units)
  return { ...withHash(signature, { ...fields, amount, message: null }), ...noOrigin }
}

function withHash(signature: string, claim: Claim): Omit<SignedClaim, keyof Origin> {
  return { ...claim, signature, hash: hash('sha256', JSON.stringify(Object.values(claim)), 'buffer') }
}

/** A whole number is base units. For tokens other than SOL, a decimal is display units (API). */
function storedAmount(tipAmount: number, isSol: boolean): string {
  if (Number.isSafeInteger(tipAmount) && tipAmount > 0)
    return isSol ? displayText(BigInt(tipAmount), solDecimals) : String(tipAmount)
  const units = isSol || Number.isInteger(tipAmount) ? undefined : baseUnits(tipAmount, claimDecimals)
  if (units === undefined) throw new DomainError('invalid_tip_amount')
  return displayText(units, claimDecimals)
}

const columns = [
  'signature',
  'creatorWallet',
  'sender',
  'amount',
  'tokenSymbol',
  'message',
  'intentId',
  'hash',
  'requestId',
  'traceId',
] as const

/** Claims as statement parameters: one array per field. */
export function signedClaimColumns(claims: readonly SignedClaim[]): unknown[][] {
  return columns.map((column) => claims.map((claim) => claim[column]))
}

/**
 * Records a tip for each claim about a transaction that is on the chain, and the verifier checks it like any other. Signatures
 * that are recorded already stay unchanged. What landed before the window is not due. Returns the signatures that are new.
 */
export async function recordFound(
  trx: Knex,
  claims: readonly (SignedClaim & { readonly landedAt?: Date | undefined })[],
  windowHours: number,
): Promise<string[]> {
  const ordered = claims.toSorted((a, b) => (a.signature < b.signature ? -1 : 1))
  const rows = await query<{ id: string }>(trx, {
    name: 'tips.record-found',
    text: /* sql */ `
      insert into tips (id, kind, creator_wallet, sender, amount, token_symbol, message, claimed_intent_id, claim_hash, request_id, trace_id, due_at)
      select id, 'chain', creator_wallet, sender, amount, token_symbol, message, intent_id, hash, request_id, trace_id,
        case when coalesce(landed_at, now()) > now() - $12 * interval '1 hour' then clock_timestamp() end
      from unnest($1::text[], $2::text[], $3::text[], $4::numeric[], $5::text[], $6::text[], $7::text[], $8::bytea[], $9::uuid[], $10::uuid[], $11::timestamptz[])
        as f(id, creator_wallet, sender, amount, token_symbol, message, intent_id, hash, request_id, trace_id, landed_at)
      on conflict (id) do nothing returning id`,
    values: [...signedClaimColumns(ordered), ordered.map(({ landedAt }) => landedAt ?? null), windowHours],
  })
  return rows.map(({ id }) => id)
}
