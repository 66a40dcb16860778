import { solMint, type Token, tokenBySymbol } from '../../kernel/tokens.js'
import { type Claim, solDecimals } from '../record/claim.js'

interface ComparedFacts {
  readonly recipient: string
  readonly sender: string
  readonly token: Token
  readonly given?: Token | undefined
  readonly intentId: string | null
}

/** The token of a claim that names none (contract, POST /chain/tips/create). */
const unsaid = 'SOL'

/**
 * Whether a claim names the recipient, sender and token the chain shows; of a swap, either token is the right one. Who
 * names the intent may leave the token out.
 */
export function claimAgrees(claim: Claim, facts: ComparedFacts): boolean {
  if (claim.creatorWallet !== facts.recipient || claim.sender !== facts.sender) return false
  const tied = claim.intentId !== null && claim.intentId === facts.intentId
  if (tied && claim.tokenSymbol === unsaid) return true
  const token = tokenBySymbol(claim.tokenSymbol)
  return token !== undefined && (token === facts.token || token === facts.given)
}

/** The message of the claim that names the intent wins; else the first one given. */
export function chooseMessage(consistent: readonly Claim[], intentId: string | null): string | null {
  const tied =
    intentId === null
      ? undefined
      : consistent.find((claim) => claim.intentId === intentId && claim.message !== null)
  return (tied ?? consistent.find((claim) => claim.message !== null))?.message ?? null
}

/** The claimed amount in base units, if it lies between what the creator received and that plus the fee transfer, give or take one unit. */
export function supportedAmount(
  claim: Claim,
  token: Token,
  received: bigint,
  feeTransfer: bigint,
): bigint | undefined {
  return possibleUnits(claim, token).find(
    (units) => units >= received - 1n && units <= received + feeTransfer + 1n,
  )
}

/** The base units a claimed amount may mean. */
export function possibleUnits(claim: Claim, token: Token): bigint[] {
  const display = unitsOfText(claim.amount, token.decimals)
  if (token.mint === solMint) return display === undefined ? [] : [display]
  // A token claim is stored as it was given, in raw or in display units; one without a token was divided like SOL.
  const raw = unitsOfText(claim.amount, claim.tokenSymbol === unsaid ? solDecimals : 0)
  return [raw, display].filter((units) => units !== undefined)
}

/** Exact decimal text as base units; undefined when it has more decimals than the token. */
function unitsOfText(text: string, decimals: number): bigint | undefined {
  const [whole = '', fraction = ''] = text.split('.')
  const digits = fraction.replace(/0+$/, '')
  if (digits.length > decimals) return undefined
  return BigInt(whole + digits.padEnd(decimals, '0'))
}
