import { workKinds } from '../../src/platform/queue/wake-ups.js'

// Which process may do what with which table (docs/decisions/0059). `npm run ops -- keys roles` makes SQL of it.

/** The kinds of processes that have a role of their own. Migrations run as the owner of the tables, who may do everything. */
export const roleKinds = ['web', ...workKinds, 'clock', 'operators'] as const
export type RoleKind = (typeof roleKinds)[number]

type Kinds = readonly RoleKind[]

/** Each kind stands in one list at most; who stands in none sees nothing of the table. */
export interface TableRights {
  /** select */
  readonly read?: Kinds
  /** select, insert */
  readonly append?: Kinds
  /** select, insert, update, which also locks rows */
  readonly change?: Kinds
  /** select, insert, update, delete */
  readonly write?: Kinds
  /** Columns that only these read and write. */
  readonly secret?: { readonly columns: readonly string[]; readonly to: Kinds }
  /** Columns that only these write. */
  readonly kept?: { readonly columns: readonly string[]; readonly to: Kinds }
  /** Columns that those who append may also update. */
  readonly moved?: readonly string[]
  /** A sequence that those who append use. Identity columns need none. */
  readonly sequence?: string
}

/** Who signs with creators' keys. Both kinds of work run in one process. */
const signers = ['custodian', 'take-outs'] as const
/** Who posts ledger transfers. */
const posters = [
  'web',
  'verifier',
  'settlement',
  'payouts',
  'reconciler',
  ...signers,
  'clock',
  'operators',
] as const
const confirmers = ['web', 'verifier', 'settlement', 'operators'] as const
const emitters = ['verifier', 'settlement', 'payouts', 'reconciler', 'clock'] as const
const payers = ['web', 'payouts', 'reconciler', 'clock', 'operators'] as const

/** One line for each table. A test compares it with the tables that exist. */
export const tableRights: Readonly<Record<string, TableRights>> = {
  access_tokens: { write: ['web', 'clock'] },
  api_keys: { write: ['web', 'operators'], read: ['clock'] },
  audit_log: { append: ['provisioner', 'operators'], read: ['web', 'clock'] },
  banks: { change: ['web', 'clock'], read: ['payouts', 'reconciler', 'operators'] },
  // Who takes a refund out of a reserve, or back into one.
  card_reserves: { change: ['web', 'settlement', 'payouts', 'operators'], read: ['clock'] },
  code_attempts: { write: ['web', 'clock', 'operators'] },
  collection_differences: { write: ['settlement', 'clock', 'operators'], read: ['web'] },
  creator_cursors: { change: confirmers, read: ['clock'] },
  creator_pages: { write: ['web', 'operators'], read: ['clock'] },
  creator_domains: { write: ['web', 'operators'], read: ['clock'] },
  custody: { change: ['web', ...signers, 'clock', 'operators'] },
  // Who sends compares it with the server. A clock and the operators say where the rows are.
  database_epoch: {
    change: ['clock', 'operators'],
    read: roleKinds.filter((kind) => kind !== 'clock' && kind !== 'operators'),
  },
  // Who writes what is sealed asks whether its key is in use. Only operators take one out of use.
  data_keys: {
    append: ['web', 'payouts', 'mailer', 'dispatcher', 'clock'],
    change: ['operators'],
    read: ['settlement', 'reconciler'],
  },
  data_exports: { write: ['web', 'clock', 'operators'] },
  devices: { write: ['web', 'clock', 'operators'] },
  dispute_polls: { change: ['web', 'settlement', 'operators'], read: ['clock'] },
  disputes: { change: ['web', 'settlement', 'operators'], read: ['payouts', 'clock'] },
  email_changes: {
    write: ['web', 'clock', 'operators'],
    read: ['settlement', 'payouts', 'reconciler', 'take-outs'],
  },
  emails: {
    write: ['web', 'mailer', 'clock', 'operators'],
    change: ['settlement', 'payouts', 'reconciler', 'take-outs'],
  },
  // Who causes events, which every process that moves a creator's money does.
  // A closed account has no log.
  event_counters: { write: ['web', 'operators'], change: emitters, read: ['dispatcher'] },
  events: { write: ['web', 'operators'], append: emitters, read: ['dispatcher'] },
  fiat_intents: { change: ['web', 'settlement', 'clock', 'operators'], read: ['payouts'] },
  fiat_payments: { append: ['settlement', 'operators'], read: ['web', 'payouts', 'clock'] },
  float_readings: { write: ['clock', 'operators'], read: ['web'] },
  // Every process measures for the others, and notices a missing clock.
  heartbeats: { change: roleKinds },
  idempotency_keys: { write: ['web', 'clock'] },
  ledger_accounts: { append: posters, moved: ['balance'] },
  ledger_entries: { append: posters, sequence: 'ledger_entry_ids' },
  ledger_transfers: { append: posters },
  measurements: { change: roleKinds },
  // Who mails what happened to an account adds a link that freezes it.
  one_time_secrets: {
    write: ['web', 'clock', 'operators'],
    append: ['settlement', 'payouts', 'reconciler', 'take-outs'],
  },
  overlay_pictures: { write: ['web', 'operators'] },
  // A clock writes the owners' files, without the address.
  overlays: {
    write: ['web', 'operators'],
    read: ['clock'],
    secret: { columns: ['token'], to: ['web', 'operators'] },
  },
  page_handles: { write: ['web', 'clock', 'operators'] },
  parties: { change: [...confirmers, 'provisioner'], read: ['finder', 'payouts', ...signers, 'clock'] },
  passkeys: { write: ['web', 'operators'], read: ['clock'] },
  payees: { write: ['web', 'clock', 'operators'] },
  payers: { change: ['web', 'clock', 'operators'], read: ['settlement', 'payouts'] },
  payment_intents: { change: [...confirmers, 'finder'], read: ['clock'] },
  payout_wallets: {
    write: ['web', 'operators'],
    read: [...signers, 'verifier', 'finder', 'settlement', 'payouts', 'reconciler', 'clock'],
  },
  payment_returns: { change: ['settlement', 'operators'], read: ['web', 'payouts', 'clock'] },
  prices: { change: ['web', 'clock'], read: ['verifier', 'finder', 'settlement', 'payouts', 'operators'] },
  rates: { write: ['web', 'settlement', 'clock', 'operators'], read: ['payouts'] },
  // Who posts a transfer also lets it cover what is owed.
  receipt_keys: { append: ['web'] },
  receivables: { change: posters },
  reconciliation_differences: { write: ['clock', 'operators'], read: ['web'] },
  recovery_codes: { write: ['web', 'operators'] },
  report_keys: { append: ['clock', 'operators'], read: ['web'] },
  reserve_reports: { append: ['clock', 'operators'], read: ['web'] },
  review_items: { change: payers },
  // Web asks for a refund, and a webhook makes one due. Only payouts and operators change what it is; settlement records
  // which of the provider's refunds is one that an operator has ended.
  refunds: {
    append: ['web'],
    moved: ['due_at'],
    change: ['payouts', 'settlement', 'operators'],
    read: ['clock'],
  },
  sdk_sessions: { write: ['web', 'clock', 'operators'], change: ['verifier', 'settlement'] },
  sessions: { write: ['web', 'clock', 'operators'] },
  // Who mails a payer a link, and who shows what is behind it.
  status_link_key: { read: ['web', 'settlement', 'payouts', 'operators'] },
  // Web where a creator decides about what arrived of a tip.
  suspense_items: { change: ['web', 'settlement', 'payouts', 'operators'], read: ['clock'] },
  sweep_parts: { change: [...signers, 'operators'], read: ['web', 'clock'] },
  sweeps: { change: [...signers, 'operators'], read: ['web', 'clock'] },
  // Who locks a switch needs the right to change it.
  switches: {
    change: ['payouts', 'clock', 'operators'],
    read: [
      'web',
      'verifier',
      'finder',
      'settlement',
      'reconciler',
      'provisioner',
      ...signers,
      'mailer',
      'dispatcher',
    ],
  },
  tip_claims: { write: ['web'], change: ['verifier', 'settlement', 'operators'], read: ['clock'] },
  tip_decisions: { write: ['web', 'operators'], read: ['clock'] },
  tip_mails: { write: ['web', 'clock', 'operators'] },
  tip_sums: { change: confirmers, read: ['clock'] },
  tips: { change: [...confirmers, 'payouts', 'finder', 'clock'], read: [...signers] },
  totp_factors: { write: ['web', 'operators'], read: ['clock'] },
  users: {
    change: ['web', 'operators'],
    // Signing asks whether the account is frozen.
    read: ['verifier', 'settlement', 'payouts', 'reconciler', 'provisioner', ...signers, 'clock'],
  },
  wallet_key_checks: { change: ['provisioner', ...signers] },
  // The sealed keys of the custody wallets: no other role can read them.
  wallet_transfers: { change: ['web', ...signers, 'operators'], read: ['clock'] },
  // Web has the wallet of a creator who is there looked at.
  wallet_watches: { append: ['provisioner'], change: ['web', 'finder', 'operators'], read: ['clock'] },
  wallets: {
    change: ['web', 'provisioner', 'operators'],
    read: ['verifier', 'finder', 'settlement', 'payouts', 'reconciler', ...signers, 'clock'],
    secret: { columns: ['sealed_secret'], to: ['provisioner', ...signers] },
    kept: { columns: ['public_key', 'key_version'], to: ['provisioner'] },
  },
  webhook_deliveries: { write: ['clock'], change: ['web', 'dispatcher', 'operators'] },
  // Who makes secrets, who signs, and who seals them again.
  webhook_endpoints: {
    write: ['web', 'operators'],
    change: ['dispatcher', 'clock'],
    secret: {
      columns: ['sealed_secret', 'sealed_previous', 'sealed_key'],
      to: ['web', 'dispatcher', 'operators'],
    },
  },
  // A check demands that `sends` grows with the first step to `sending`, so only the payouts worker takes it.
  withdrawals: {
    change: payers,
    read: ['settlement', ...signers],
    kept: { columns: ['sends', 'sent_at'], to: ['payouts'] },
  },
}
