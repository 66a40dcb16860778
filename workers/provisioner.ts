import { checkVaultKey } from '../src/accounts/wallets/check-vault-key.js'
import { createProvisionerBatch } from '../src/accounts/wallets/provision-wallets.js'
import { composeVault } from '../src/compose.js'
import { loadWalletKeys } from '../src/platform/config/own-settings.js'
import type { WorkerDefinition } from './worker-definition.js'

/** Creates custody wallets for new accounts. Woken by each registration. */
export const provisioner: WorkerDefinition = {
  createBatch: (services) => createProvisionerBatch({ ...services, vault: composeVault() }),
  concurrency: 1,
  readOwnSettings: loadWalletKeys,
  checkStart: (services) => checkVaultKey({ ...services, vault: composeVault() }),
}
