import { createProvisionerBatch } from '../src/accounts/wallets/provision-wallets.js'
import { composeVault } from '../src/compose.js'
import type { Batch } from '../src/platform/worker/batch-loop.js'
import type { Services } from '../src/services.js'

/** Gives new accounts their wallets. The only worker that holds the vault, and with it the key-encryption key. */
export function provisioner(services: Services): Batch {
  return createProvisionerBatch({ ...services, vault: composeVault() })
}
