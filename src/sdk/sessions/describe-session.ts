import { resolvePayableCreator } from '../../creators/resolve-creator.js'
import { presetsFor, tipLimitsFor } from '../../intents/quote.js'
import { maskAddress } from '../../kernel/text.js'
import { tokenBySymbol, usdc } from '../../kernel/tokens.js'
import { query } from '../../platform/database/database.js'
import type { Services } from '../../services.js'
import type { SessionAnswer } from '../schemas.js'
import type { SdkSession } from './session.js'

type Needs = Pick<Services, 'db' | 'notifications' | 'config' | 'names' | 'chain'>

/** Everything a tipping page needs before it can show a form for the amount. */
export async function describeSession(services: Needs, session: SdkSession): Promise<SessionAnswer> {
  return {
    ...(await describeCreator(services, session.userId)),
    theme: session.theme,
    parentOrigin: session.origin,
    expiresAt: session.expiresAt.toISOString(),
    now: new Date().toISOString(),
  }
}

type CreatorDescription = Omit<SessionAnswer, 'theme' | 'parentOrigin' | 'expiresAt' | 'now'>

/** The part of it that is the same in every session for a creator. */
export async function describeCreator(services: Needs, userId: string): Promise<CreatorDescription> {
  const { config } = services
  const [{ wallet, settings }, { name, thanks }] = await Promise.all([
    resolvePayableCreator(services, userId),
    readCreatorWords(services, userId),
  ])
  const limits = tipLimitsFor(config.tips, settings)
  return {
    creator: { id: userId, name, address: maskAddress(wallet) },
    ...(thanks !== null && { thanks }),
    tokens: settings.acceptedTokens
      .map(tokenBySymbol)
      .filter((token) => token !== undefined)
      // Pages preselect the first one: USDC if the creator takes it, because only USDC can be withdrawn to a bank.
      .sort((one, other) => Number(other === usdc) - Number(one === usdc))
      .map(({ symbol, mint, decimals }) => ({ symbol, mint, decimals })),
    presetsUsd: presetsFor(limits),
    limits: { minTipUsd: limits.minUsd, maxTipUsd: limits.maxUsd },
    // The token mints are mainnet's. A local chain uses the same mints.
    chain: 'solana:mainnet',
    rpcUrl: config.chain.publicRpcUrl ?? null,
    bundleRpcUrl: config.chain.publicBundleRpcUrl ?? null,
    fiat: {
      enabled: true,
      collection: settings.fiatCollection,
      minNgn: config.fiat.minNgn,
      maxNgn: config.fiat.maxNgn,
    },
  }
}

interface CreatorWords {
  readonly name: string
  /** To who has paid. Null: the creator has written none. */
  readonly thanks: string | null
}

async function readCreatorWords({ db }: Pick<Services, 'db'>, userId: string): Promise<CreatorWords> {
  const [user] = await query<CreatorWords>(db, {
    name: 'sdk.creator-words',
    text: /* sql */ `
      select u.name, k.thanks from users u left join creator_pages k on k.user_id = u.id and u.frozen_at is null
      where u.id = $1`,
    values: [userId],
  })
  if (user === undefined) throw new Error('The creator of this session does not exist')
  return user
}
