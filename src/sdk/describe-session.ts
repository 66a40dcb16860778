import { payableCreator } from '../creators/resolve-creator.js'
import { tipLimitsFor } from '../intents/quote.js'
import { maskAddress } from '../kernel/text.js'
import { tokenBySymbol } from '../kernel/tokens.js'
import { query } from '../platform/database/database.js'
import type { Services } from '../services.js'
import type { SessionAnswer } from './schemas.js'
import type { SdkSession } from './session.js'

/** Offered where the creator's limits allow them. */
const presetsUsd = [2, 5, 10, 25]

type Needs = Pick<Services, 'db' | 'notifications' | 'config' | 'names'>

/** Everything a tipping page needs to know about its session before it can ask for an amount. */
export async function describeSession(services: Needs, session: SdkSession): Promise<SessionAnswer> {
  const { config } = services
  const [{ wallet, settings }, name] = await Promise.all([
    payableCreator(services, session.userId),
    creatorName(services, session.userId),
  ])
  const { minUsd, maxUsd } = tipLimitsFor(config.tips, settings)
  return {
    creator: { id: session.userId, name, address: maskAddress(wallet) },
    tokens: settings.acceptedTokens
      .map(tokenBySymbol)
      .filter((token) => token !== undefined)
      .map(({ symbol, mint, decimals }) => ({ symbol, mint, decimals })),
    presetsUsd: presetsUsd.filter((usd) => usd >= minUsd && usd <= maxUsd),
    limits: { minTipUsd: minUsd, maxTipUsd: maxUsd },
    // The mints we know are those of mainnet; a local chain stands in for it.
    chain: 'solana:mainnet',
    rpcUrl: config.chain.publicRpcUrl ?? null,
    bundleRpcUrl: config.chain.publicBundleRpcUrl ?? null,
    fiat: { enabled: true, collection: settings.fiatCollection },
    theme: session.theme,
    parentOrigin: session.origin,
    expiresAt: session.expiresAt.toISOString(),
    now: new Date().toISOString(),
  }
}

/** The name a creator goes by. */
async function creatorName({ db }: Pick<Services, 'db'>, userId: string): Promise<string> {
  const [user] = await query<{ name: string }>(db, {
    name: 'sdk.creator-name',
    text: 'select name from users where id = $1',
    values: [userId],
  })
  if (user === undefined) throw new Error('A session without its creator')
  return user.name
}
