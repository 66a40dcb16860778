import { payableCreator } from '../creators/resolve-creator.js'
import { DomainError } from '../kernel/errors.js'
import { newIntentId } from '../kernel/ids.js'
import { cleanLine } from '../kernel/text.js'
import { type Token, tokenByMint } from '../kernel/tokens.js'
import type { TokenPrices } from '../market/token-prices.js'
import type { Services } from '../services.js'
import { buildDirectTransfer } from './direct/build-transfer.js'
import { presentIntent } from './present.js'
import { checkUsdLimits, grossAmount, parseTipAmount, tipLimitsFor } from './quote.js'
import type { IntentAnswer, IntentInput } from './schemas.js'
import { type Route, selectRoute } from './select-route.js'
import { type Intent, storeIntent } from './store-intent.js'
import { buildSwap } from './swap/build-swap.js'
import type { UnsignedTransaction } from './unsigned-transaction.js'

type Needs = Pick<
  Services,
  'db' | 'notifications' | 'config' | 'names' | 'chain' | 'swaps' | 'metrics' | 'log'
>

const maxSymbolLength = 20

/**
 * Builds the unsigned transaction of a crypto tip and stores what was issued (contract: POST /payments/intent).
 * Order of refusals: fields, mint, wallet (all in the schema), amount, creator, limits, price, route. `sdkSessionId`:
 * the SDK session it is made in and counted for, if any.
 */
export async function createIntent(
  services: Needs,
  prices: TokenPrices,
  input: IntentInput,
  sdkSessionId: string | null = null,
): Promise<IntentAnswer> {
  const token = tokenByMint(input.inputTokenMint) as Token
  const asked = parseTipAmount(input.amount, input.amountUsd, token)
  const creator = await payableCreator(services, input.creatorId)
  const bounds = tipLimitsFor(services.config.tips, creator.settings)
  checkUsdLimits(asked, bounds)
  const gross = grossAmount(asked, token, await prices.priceOf(token.mint), bounds)

  const liquidStakingToken = tokenByMint(services.config.tips.liquidStakingMint) as Token
  const route = selectRoute(token, creator.settings, liquidStakingToken)
  const source = input.sourceWalletAddress
  const symbol = cleanLine(input.tokenSymbol ?? '', maxSymbolLength) || token.symbol
  const tip = { creator, source, token, gross, symbol, executionMode: route.executionMode, sdkSessionId }
  const intent = await make(services, route, tip)
  if (await storeIntent(services, intent)) return present(intent)
  // Asked for the same twice within a block, an engine that takes no reference key builds the same message twice.
  const another = await make(services, route, tip, intent.provider)
  if (await storeIntent(services, another)) return present(another)
  throw new DomainError('swap_engines_unavailable')
}

/**
 * Whether an issued transaction can still land. By the chain's own height, not by `expiresAt`: slots run slower than
 * their 400 ms, and a second transaction while the first can still land could make a supporter pay twice.
 */
export async function intentCanLand(
  { chain }: Pick<Services, 'chain'>,
  { lastValidBlockHeight }: Pick<IntentAnswer, 'lastValidBlockHeight'>,
): Promise<boolean> {
  return (await chain.blockHeight()) <= lastValidBlockHeight
}

type Tip = Omit<Intent, keyof UnsignedTransaction | 'id'>

async function make(
  services: Needs,
  { kind, output }: Route,
  tip: Tip,
  without?: UnsignedTransaction['provider'],
): Promise<Intent> {
  const { token, gross, creator, source } = tip
  const issued =
    kind === 'direct'
      ? await buildDirectTransfer(services, token, gross, creator, source)
      : await buildSwap(services, { input: token, output, gross, creator, supporter: source }, without)
  return { ...tip, ...issued, id: newIntentId() }
}

function present({ gross, symbol, creator, ...intent }: Intent): IntentAnswer {
  return presentIntent(
    { ...intent, usdCents: gross.usdCents, tokenSymbol: symbol, createdAt: new Date() },
    creator.settings,
  )
}
