import type { CreatorSettings } from '../creators/settings.js'
import type { ErrorCode } from '../kernel/errors.js'
import type { ProviderErrorKind } from '../kernel/provider-error.js'
import { type Token, tokenByMint, tokenBySymbol, usdc } from '../kernel/tokens.js'

/** How a tip gets to its creator. */
export interface TipRoute {
  readonly output: Token
  /** `direct`: input and output are the same token. `swap`: a swap engine changes one into the other. */
  readonly kind: 'direct' | 'swap'
  /** `async`: a bundle-capable RPC endpoint lands the transaction (API: POST /payments/intent). */
  readonly executionMode: 'sync' | 'async'
}

/**
 * Selects the output token and how it is reached (docs/decisions/0013). The output is the liquid staking token with yield
 * routing, otherwise USDC with auto-conversion, otherwise the input token if the creator accepts it, otherwise USDC.
 */
export function selectRoute(input: Token, settings: CreatorSettings, liquidStakingToken: Token): TipRoute {
  const output = outputToken(input, settings, liquidStakingToken)
  return {
    output,
    kind: output === input ? 'direct' : 'swap',
    executionMode: settings.gaslessEnabled ? 'async' : 'sync',
  }
}

function outputToken(input: Token, settings: CreatorSettings, liquidStakingToken: Token): Token {
  if (settings.yieldEnabled) return liquidStakingToken
  if (settings.autoConvertUsdc) return usdc
  const accepted = settings.acceptedTokens.some((symbol) => tokenBySymbol(symbol) === tokenByMint(input.mint))
  return accepted ? input : usdc
}

/**
 * The error when no swap engine made a usable offer: `no_route` if every engine answered that it has none (`rejected`).
 * Otherwise an engine was unavailable or gave a wrong answer, and a later try may succeed.
 */
export function swapRefusal(engines: readonly ProviderErrorKind[]): ErrorCode {
  const allAnswered = engines.length > 0 && engines.every((kind) => kind === 'rejected')
  return allAnswered ? 'no_route' : 'swap_engines_unavailable'
}
