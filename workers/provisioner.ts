import { createWalletDrain } from '../src/accounts/wallet.js'
import type { Drain } from '../src/platform/drain-loop.js'
import type { Vault } from '../src/providers/vault/port.js'
import type { Services } from '../src/services.js'

/** Gives new accounts their wallets. The only process that holds the vault, and with it the key-encryption key. */
export function provisioner(services: Services, vault: Vault): Drain {
  return createWalletDrain({ ...services, vault })
}
