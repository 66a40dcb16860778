import { createWalletDrain } from '../src/accounts/wallet.js'
import { composeVault } from '../src/compose.js'
import type { Drain } from '../src/platform/drain-loop.js'
import type { Services } from '../src/services.js'

/** Gives new accounts their wallets. The only worker that holds the vault, and with it the key-encryption key. */
export function provisioner(services: Services): Drain {
  return createWalletDrain({ ...services, vault: composeVault() })
}
