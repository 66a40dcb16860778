import { sealedTotpSecrets } from '../../accounts/factors/verify-totp.js'
import { sealedPayers } from '../../fiat/intents/payer.js'
import { sealedRecipients } from '../../mail/queue-email.js'
import type { SealedColumn } from '../../platform/database/sealed-column.js'
import { sealedWebhookKeys } from '../../webhooks/sign-webhook.js'
import { sealedAccounts } from '../../withdrawals/bank-account.js'
import { sealedExports } from '../exports/make-exports.js'

/** Everything that is sealed with DATA_KEY. Payers before e-mails, which have copies of their addresses. */
export const sealedColumns: readonly SealedColumn[] = [
  sealedPayers,
  sealedRecipients,
  sealedTotpSecrets,
  ...sealedAccounts,
  sealedExports,
  ...sealedWebhookKeys,
]
