import { type PayableCreator, payableCreator } from '../creators/resolve.js'
import { newIntentId } from '../kernel/ids.js'
import { cleanLine } from '../kernel/text.js'
import { type Token, tokenByMint } from '../kernel/tokens.js'
import type { Services } from '../services.js'
import { chooseRoute, type Route } from './choose-route.js'
import { issueSwap } from './issue-swap.js'
import { issueTransfer } from './issue-transfer.js'
import type { Issued } from './issued.js'
import { presentIntent } from './present.js'
import type { PriceBook } from './price-book.js'
import { askedAmount, boundsFor, type Gross, grossAmount, refuseOutOfBounds } from './quote.js'
import type { IntentAnswer, IntentInput } from './schemas.js'
import { type Intent, storeIntent } from './store-intent.js'

type Needs = Pick<Services, 'db' | 'hints' | 'config' | 'names' | 'chain' | 'swaps' | 'metrics' | 'log'>

const maxSymbolLength = 20

/**
 * Builds the unsigned transaction of a crypto tip and stores what was issued (contract: POST /payments/intent).
 * Order of refusals: fields, mint, wallet (all in the schema), amount, creator, limits, price, route. `sdkSessionId`:
 * the SDK session it is made in and counted for, if any.
 */
export async function createIntent(
  services: Needs,
  prices: PriceBook,
  input: IntentInput,
  sdkSessionId: string | null = null,
): Promise<IntentAnswer> {
  const token = tokenByMint(input.inputTokenMint) as Token
  const asked = askedAmount(input.amount, input.amountUsd, token)
  const creator = await payableCreator(services, input.creatorId)
  const bounds = boundsFor(services.config.tips, creator.settings)
  refuseOutOfBounds(asked, bounds)
  const gross = grossAmount(asked, token, await prices.priceOf(token.mint), bounds)

  const liquidStakingToken = tokenByMint(services.config.tips.liquidStakingMint) as Token
  const route = chooseRoute(token, creator.settings, liquidStakingToken)
  const source = input.sourceWalletAddress
  const issued = await issue(services, route, { token, gross, creator, source })
  const intent = {
    ...issued,
    id: newIntentId(),
    creator,
    source,
    token,
    gross,
    symbol: cleanLine(input.tokenSymbol ?? '', maxSymbolLength) || token.symbol,
    executionMode: route.executionMode,
    sdkSessionId,
  }
  await storeIntent(services, intent)
  return present(intent)
}

/**
 * Whether an issued transaction can still land. By the chain's own height, not by `expiresAt`: slots run slower than
 * their 400 ms, and a second transaction while the first can still land could make a supporter pay twice.
 */
export async function intentLives(
  { chain }: Pick<Services, 'chain'>,
  { lastValidBlockHeight }: Pick<IntentAnswer, 'lastValidBlockHeight'>,
): Promise<boolean> {
  return (await chain.blockHeight()) <= lastValidBlockHeight
}

interface Tip {
  readonly token: Token
  readonly gross: Gross
  readonly creator: PayableCreator
  readonly source: string
}

function issue(
  services: Needs,
  { kind, output }: Route,
  { token, gross, creator, source }: Tip,
): Promise<Issued> {
  if (kind === 'direct') return issueTransfer(services, token, gross, creator, source)
  return issueSwap(services, { input: token, output, gross, creator, supporter: source })
}

function present({ gross, symbol, creator, ...intent }: Intent): IntentAnswer {
  return presentIntent(
    { ...intent, usdCents: gross.usdCents, tokenSymbol: symbol, createdAt: new Date() },
    creator.settings,
  )
}
