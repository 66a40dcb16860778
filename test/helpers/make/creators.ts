import { createProvisionerBatch } from '../../../src/accounts/wallets/provision-wallets.js'
import type { CreatorSettings } from '../../../src/creators/settings.js'
import type { Batch } from '../../../src/platform/worker/batch-loop.js'
import { createConfiguredVault } from '../../../src/providers/vault/configured-vault.js'
import { runBatch, type World } from '../servers/world.js'
import { until } from '../until.js'
import { type Person, registerPerson } from './people.js'

/** A registered person whose wallet is there. */
export interface TestCreator extends Person {
  readonly wallet: string
}

/** Registers a creator, gives them their wallet and, if asked, settings. */
export async function registerCreator(
  world: World,
  settings: Partial<CreatorSettings> = {},
): Promise<TestCreator> {
  const person = await registerPerson(world)
  const wallet = await walletOf(world, person.user.id)
  await world
    .db('users')
    .where({ id: person.user.id })
    .update({ settings: JSON.stringify(settings) })
  return { ...person, wallet }
}

/** Another test's batch may have taken the row and not be done with it. */
async function walletOf(world: World, userId: string): Promise<string> {
  let wallet: string | null = null
  await until('the wallet is there', async () => {
    await runBatch(provisionerBatch(world))
    wallet = (await world.db('wallets').where({ user_id: userId }).first()).public_key
    return wallet !== null
  })
  return wallet ?? ''
}

/** The provisioner's batch, with this world's key. */
export function provisionerBatch({ services, env }: World): Batch {
  const vault = createConfiguredVault(Buffer.from(env['WALLET_KEK'] ?? '', 'base64'))
  return createProvisionerBatch({ ...services, vault })
}
