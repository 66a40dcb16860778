import { createApiKey } from '../../../src/creators/api-keys.js'
import type { CreatorSettings } from '../../../src/creators/settings.js'
import { replaceSites } from '../../../src/creators/sites.js'
import { solMint } from '../../../src/kernel/tokens.js'
import type { World } from '../servers/world.js'
import { registerCreator, type TestCreator } from './creators.js'
import { unusedWallet } from './supporter.js'

/** A creator with an API key and registered sites. */
export interface Embedder extends TestCreator {
  readonly id: string
  readonly apiKey: string
  readonly keyId: string
}

export const site = 'https://shop.example'

export async function registerEmbedder(
  world: World,
  settings: Partial<CreatorSettings> = {},
): Promise<Embedder> {
  const creator = await registerCreator(world, settings)
  const { id } = creator.user
  const { apiKey, id: keyId } = await createApiKey(world.services, id, undefined)
  await replaceSites(world.services, id, ['shop.example', '*.sites.example'])
  return { ...creator, id, apiKey, keyId }
}

export interface InitBody {
  readonly success: true
  readonly sessionToken: string
  readonly config: {
    readonly creatorId: string
    readonly creatorAddress: string
    readonly acceptedTokens: readonly string[]
    readonly embedUrl: string
  }
}

/** Opens a session as the creator's backend would. */
export async function createSession({ request }: World, { id, apiKey }: Embedder): Promise<InitBody> {
  const body = { creatorId: id, originUrl: site }
  const answer = await request<InitBody>('POST', '/sdk/init', { bearer: apiKey, body })
  if (answer.status !== 200) throw new Error(`init: ${answer.status} ${JSON.stringify(answer.body)}`)
  return answer.body
}

/** The body of a valid tip of 5 USD in SOL, with the given changes. */
export function sdkTipBody({ id }: Pick<Embedder, 'id'>, change: Record<string, unknown> = {}) {
  return {
    creatorId: id,
    amount: 5,
    inputTokenMint: solMint,
    sourceWalletAddress: unusedWallet(),
    ...change,
  }
}

/** Moves a session's expiry this many minutes into the past. */
export async function ageSession({ db }: World, sessionToken: string, minutes: number): Promise<void> {
  const changed = await db('sdk_sessions')
    .whereRaw(`token_hash = sha256(convert_to(?, 'utf8'))`, [sessionToken])
    .update({ expires_at: db.raw(`expires_at - ? * interval '1 minute'`, [minutes]) })
  if (changed !== 1) throw new Error('no such session')
}
