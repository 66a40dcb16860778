import { hash } from 'node:crypto'
import { DomainError } from '../../kernel/errors.js'
import { isIntentId } from '../../kernel/ids.js'
import { baseUnits, displayText } from '../../kernel/money.js'
import { cleanLine, cleanMessage } from '../../kernel/text.js'
import { tokenBySymbol } from '../../kernel/tokens.js'
import type { RecordTipInput } from '../schemas.js'

/** What a caller says about a transaction. Nothing of it is believed before the chain bears it out. */
export interface Claim {
  readonly creatorWallet: string
  readonly sender: string
  /** Decimal text, as stored until confirmation: SOL divided by 1e9, other tokens as given (contract). */
  readonly amount: string
  readonly tokenSymbol: string
  readonly message: string | null
  readonly intentId: string | null
}

export interface SignedClaim extends Claim {
  readonly signature: string
  /** SHA-256 over the fields: equal claims are kept once. */
  readonly hash: Buffer
}

const maxMessage = 500
const maxSymbol = 20
/** What the amount of a claim in SOL, or without a token, is divided by: ten to this power. */
export const solDecimals = 9
/** Decimals kept of an amount in display units; no listed token has more. */
const claimDecimals = 12

/** Reads a parsed request as a claim. Throws `invalid_tip_amount`. */
export function claimFrom(input: RecordTipInput): SignedClaim {
  const symbol = cleanLine(input.tokenSymbol ?? '', maxSymbol) || 'SOL'
  const tokenSymbol = tokenBySymbol(symbol)?.symbol ?? symbol
  const claim: Claim = {
    creatorWallet: input.creatorWallet,
    sender: input.senderWallet,
    amount: storedAmount(input.tipAmount, tokenSymbol === 'SOL'),
    tokenSymbol,
    message: cleanMessage(input.message ?? '', maxMessage) || null,
    intentId: input.intentId !== undefined && isIntentId(input.intentId) ? input.intentId : null,
  }
  return signed(input.txSignature, claim)
}

/** A payment of an intent as we find it ourselves. `units`: base units of the token given. */
export function claimOf({
  signature,
  units,
  ...fields
}: Omit<Claim, 'amount' | 'message'> & { signature: string; units: bigint }): SignedClaim {
  const amount = fields.tokenSymbol === 'SOL' ? displayText(units, solDecimals) : String(units)
  return signed(signature, { ...fields, amount, message: null })
}

function signed(signature: string, claim: Claim): SignedClaim {
  return { ...claim, signature, hash: hash('sha256', JSON.stringify(Object.values(claim)), 'buffer') }
}

/** Raw units are whole; for tokens other than SOL a decimal is display units. */
function storedAmount(tipAmount: number, sol: boolean): string {
  if (Number.isSafeInteger(tipAmount) && tipAmount > 0)
    return sol ? displayText(BigInt(tipAmount), solDecimals) : String(tipAmount)
  const units = sol || Number.isInteger(tipAmount) ? undefined : baseUnits(tipAmount, claimDecimals)
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
] as const

/** Claims as the parameters of a statement: one array for each field. */
export function signedClaimColumns(claims: readonly SignedClaim[]): unknown[][] {
  return columns.map((column) => claims.map((claim) => claim[column]))
}
