import { checkVaultKey } from '../src/accounts/wallets/check-vault-key.js'
import { createProvisionerBatch } from '../src/accounts/wallets/provision-wallets.js'
import {
  composeMail,
  composePayoutSender,
  composeRefundReader,
  composeRefunds,
  composeVault,
} from '../src/compose.js'
import { createReturnsBatch } from '../src/fiat/disputes/watch-returns.js'
import { createRefundBatch } from '../src/fiat/refunds/send-refunds.js'
import { createSettlementBatch } from '../src/fiat/settlement/settle-due-intents.js'
import { createMailerBatch } from '../src/mail/send-emails.js'
import { loadConfig } from '../src/platform/config/config.js'
import {
  loadMail,
  loadOperators,
  loadReportSigningKey,
  loadWalletKeys,
} from '../src/platform/config/own-settings.js'
import { type Secret, secretsOf } from '../src/platform/config/secrets.js'
import type { SettingsReader } from '../src/platform/config/start-settings.js'
import { type WorkKind, workKinds } from '../src/platform/queue/wake-ups.js'
import { type Batch, inTurn } from '../src/platform/worker/batch-loop.js'
import type { Services } from '../src/services.js'
import { createFinderBatch } from '../src/tips/record/find-unreported.js'
import { createVerifierBatch } from '../src/tips/verify/verify-tips.js'
import { createCustodianBatch } from '../src/treasury/custodian/custodian-batch.js'
import { createTakeOutBatch } from '../src/treasury/take-outs/take-out-batch.js'
import { createReconcilerBatch } from '../src/withdrawals/reconcile/reconcile-payouts.js'
import { createPayoutBatch } from '../src/withdrawals/send/send-payouts.js'
import { makePayoutDue, payoutJobFailure } from '../src/withdrawals/work-queue.js'

interface WorkerDefinition {
  readonly createBatch: (services: Services) => Batch
  /** Batches that run at the same time in one process. Above 1 where a call for one row may hang. */
  readonly concurrency: number
  /** Reads the settings that only this worker needs. */
  readonly readOwnSettings?: SettingsReader
  /** Compares the settings with the database before the worker starts. Throws ConfigError. */
  readonly checkStart?: (services: Services) => Promise<void>
  /** Why the work on a row has not succeeded, for work whose rows have their own jobs. */
  readonly jobFailure?: (services: Services, row: string) => Promise<string | undefined>
  /** Makes a row due whose job somebody retries. */
  readonly makeRowDue?: (services: Services, row: string) => Promise<void>
}

/** The workers that take due rows, by the kind of work. A new worker is one entry here and one line in the Procfile. */
export const workers: Readonly<Record<WorkKind, WorkerDefinition>> = {
  /** Verifies and confirms recorded crypto tips against the chain. */
  verifier: { createBatch: createVerifierBatch, concurrency: 1 },
  /** Finds unreported payments of payment intents. */
  finder: { createBatch: createFinderBatch, concurrency: 1 },
  /** Queries the provider about open fiat intents, and what came back of payments: credits what was paid, debits what is lost. */
  settlement: {
    createBatch: (services) => {
      const needs = { ...services, refunds: composeRefundReader(services.config) }
      return inTurn([createSettlementBatch(needs), createReturnsBatch(needs)])
    },
    concurrency: 4,
  },
  /** Sends withdrawals, and the refunds that creators ask for, which it also follows. The only worker that can send money. */
  payouts: {
    createBatch: (services) =>
      inTurn([
        createPayoutBatch({ ...services, sender: composePayoutSender(services.config) }),
        createRefundBatch({ ...services, refunds: composeRefunds(services.config) }),
      ]),
    concurrency: 4,
    jobFailure: ({ db }, reference) => payoutJobFailure(db, reference),
    makeRowDue: makePayoutDue,
  },
  /** Follows the provider's record of each payout. */
  reconciler: { createBatch: createReconcilerBatch, concurrency: 4 },
  /** Creates custody wallets for new accounts. */
  provisioner: {
    createBatch: (services) => createProvisionerBatch({ ...services, vault: composeVault() }),
    concurrency: 1,
    readOwnSettings: loadWalletKeys,
    checkStart: (services) => checkVaultKey({ ...services, vault: composeVault() }),
  },
  /** Signs with creators' keys, and follows what it signed. The only worker but the provisioner with the vault. */
  custodian: {
    createBatch: (services) => createCustodianBatch({ ...services, vault: composeVault() }),
    concurrency: 1,
    readOwnSettings: loadWalletKeys,
    checkStart: (services) => checkVaultKey({ ...services, vault: composeVault() }),
  },
  /** Signs and follows what creators take out, apart from sweeps: a creator waits for it. It runs in the custodian's process. */
  'take-outs': {
    createBatch: (services) => createTakeOutBatch({ ...services, vault: composeVault() }),
    concurrency: 2,
    readOwnSettings: loadWalletKeys,
    checkStart: (services) => checkVaultKey({ ...services, vault: composeVault() }),
  },
  /** Sends e-mails. The only worker with the mail server's password. */
  mailer: {
    createBatch: (services) => createMailerBatch({ ...services, mail: composeMail() }),
    concurrency: 4,
    readOwnSettings: loadMail,
  },
}

/** The kinds of processes `workers/main.ts` can run: the workers above and the clock. */
export const processNames = [...workKinds, 'clock'] as const
export type ProcessName = (typeof processNames)[number]

/** The secrets that one process with all of these names reads. */
export const secretsOfAll = (names: readonly ProcessName[]): readonly Secret[] => [
  ...new Set(names.flatMap((name): readonly Secret[] => secretsOf[name])),
]

/** Readers of all settings of these processes. Each throws ConfigError. */
export function settingsReaders(names: readonly ProcessName[]): SettingsReader[] {
  const own = names.flatMap((name) =>
    name === 'clock' ? [loadOperators, loadReportSigningKey] : (workers[name].readOwnSettings ?? []),
  )
  return [(env) => loadConfig(env, secretsOfAll(names)), ...own]
}
