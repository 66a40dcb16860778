import { createWalletDrain } from '../../src/accounts/wallet.js'
import type { CreatorSettings } from '../../src/creators/settings.js'
import type { Drain } from '../../src/platform/drain-loop.js'
import { createConfiguredVault } from '../../src/providers/vault/configured.js'
import { type Person, registerPerson } from './people.js'
import { runDrain, type World } from './world.js'

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
  await runDrain(walletDrain(world))
  const { public_key: wallet } = await world.db('wallets').where({ user_id: person.user.id }).first()
  await world
    .db('users')
    .where({ id: person.user.id })
    .update({ settings: JSON.stringify(settings) })
  return { ...person, wallet }
}

/** The provisioner's drain, with this world's key. */
export function walletDrain({ services, env }: World): Drain {
  const vault = createConfiguredVault(Buffer.from(env['WALLET_KEK'] ?? '', 'base64'))
  return createWalletDrain({ ...services, vault })
}
