import type { CreatorSettings } from '../creators/settings.js'
import { type Token, tokenByMint, tokenBySymbol } from '../kernel/tokens.js'

const usdc = tokenBySymbol('USDC') as Token
/** The token that yield routing targets. */
const liquidStakingToken = tokenBySymbol('JitoSOL') as Token

/**
 * What the creator is to receive: the liquid staking token with yield routing, else USDC with auto-conversion,
 * else the token sent if the creator accepts it, else USDC. The same token in and out is a direct transfer.
 */
export function targetToken(input: Token, settings: CreatorSettings): Token {
  if (settings.yieldEnabled) return liquidStakingToken
  if (settings.autoConvertUsdc) return usdc
  const accepted = settings.acceptedTokens.some((symbol) => tokenBySymbol(symbol) === tokenByMint(input.mint))
  return accepted ? input : usdc
}
