import { checkVaultKey } from '../src/accounts/wallets/check-vault-key.js'
import { composeVault } from '../src/compose.js'
import { loadWalletKeys } from '../src/platform/config/own-settings.js'
import { createCustodianBatch } from '../src/treasury/custodian-batch.js'
import { createTakeOutBatch } from '../src/treasury/take-outs/take-out-batch.js'
import type { WorkerDefinition } from './worker-definition.js'

const withVault: Pick<WorkerDefinition, 'readOwnSettings' | 'checkStart'> = {
  readOwnSettings: loadWalletKeys,
  checkStart: (services) => checkVaultKey({ ...services, vault: composeVault() }),
}

/** Signs sweeps with creators' keys, and follows what it signed. Woken by a planned sweep. */
export const custodian: WorkerDefinition = {
  createBatch: (services) => createCustodianBatch({ ...services, vault: composeVault() }),
  concurrency: 1,
  ...withVault,
}

/** Signs and follows what creators take out, apart from sweeps: a creator waits for it. It runs in the custodian's process. */
export const takeOuts: WorkerDefinition = {
  createBatch: (services) => createTakeOutBatch({ ...services, vault: composeVault() }),
  concurrency: 2,
  ...withVault,
}
