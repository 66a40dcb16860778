import type { CreatorSettings } from '../creators/settings.js'
import type { ErrorCode } from '../kernel/errors.js'
import type { ProviderErrorKind } from '../kernel/provider-error.js'
import { type Token, tokenByMint, tokenBySymbol } from '../kernel/tokens.js'

const usdc = tokenBySymbol('USDC') as Token

/** How a tip gets to its creator. */
export interface Route {
  readonly output: Token
  /** The same token in and out needs no engine; otherwise the engines are asked in their order. */
  readonly kind: 'direct' | 'swap'
  /** `async`: landing is left to a bundle-capable RPC endpoint (contract: Crypto payment intent). */
  readonly executionMode: 'sync' | 'async'
}

/**
 * What the creator is to receive, and how: the liquid staking token with yield routing, else USDC with
 * auto-conversion, else the token sent if the creator accepts it, else USDC (decisions of the product, crypto tips).
 */
export function selectRoute(input: Token, settings: CreatorSettings, liquidStakingToken: Token): Route {
  const output = targetToken(input, settings, liquidStakingToken)
  return {
    output,
    kind: output === input ? 'direct' : 'swap',
    executionMode: settings.gaslessEnabled ? 'async' : 'sync',
  }
}

function targetToken(input: Token, settings: CreatorSettings, liquidStakingToken: Token): Token {
  if (settings.yieldEnabled) return liquidStakingToken
  if (settings.autoConvertUsdc) return usdc
  const accepted = settings.acceptedTokens.some((symbol) => tokenBySymbol(symbol) === tokenByMint(input.mint))
  return accepted ? input : usdc
}

/**
 * What a tip is refused with when no engine's offer could be used. An engine that answered without a route we can
 * use (`rejected`) is done; with one that was away or lied it is worth coming back.
 */
export function refusalOf(engines: readonly ProviderErrorKind[]): ErrorCode {
  const allAnswered = engines.length > 0 && engines.every((kind) => kind === 'rejected')
  return allAnswered ? 'no_route' : 'swap_engines_unavailable'
}
