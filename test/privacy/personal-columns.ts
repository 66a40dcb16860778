import type { Knex } from 'knex'

/** What becomes of the columns of a table that can hold words. Those with a star are in the owner's export, in these words or others. */
interface Columns {
  /** Nobody finds them after an account is closed, or after the time that docs/privacy.md says. */
  readonly forgotten?: string
  /** Of a person, and kept for the reason that docs/privacy.md says. */
  readonly kept?: string
  /** Of nobody: states, references, money, hashes of random secrets. */
  readonly others?: string
}

/** Every column that can hold words, of every table: a new one needs a place here, and a line in docs/privacy.md if it is personal. */
export const columns: Readonly<Record<string, Columns>> = {
  access_tokens: { others: 'session_hash token_hash' },
  api_keys: { forgotten: 'label* prefix*', others: 'key_hash' },
  audit_log: { kept: 'actor details subject', others: 'action*' },
  banks: { others: 'code name' },
  card_reserves: { others: 'id' },
  code_attempts: { others: 'failed_at kind' },
  collection_differences: { others: 'kind ours subject theirs' },
  creator_domains: { forgotten: 'domain*' },
  creator_pages: {
    forgotten: 'goal_title* links* picture thanks* words*',
    others: 'currency language picture_hash',
  },
  custody: { others: 'mint' },
  data_exports: { forgotten: 'sealed_file', others: 'last_error token_hash' },
  data_keys: { others: 'fingerprint hash_keys' },
  devices: { forgotten: 'network* user_agent*', others: 'device_hash' },
  dispute_polls: { others: 'id last_error' },
  disputes: {
    kept: 'answer_message answered_by',
    others: 'answer answer_result category id* intent_id* provider_transaction reference state*',
  },
  email_changes: { forgotten: 'new_email* old_email*' },
  emails: {
    forgotten: 'body recipient sealed_recipient subject* unsubscribe_url',
    others: 'kind* last_error',
  },
  events: { forgotten: 'data', others: 'subject traceparent type' },
  fiat_intents: {
    forgotten: 'client_network',
    others: 'basis checkout_url id instructions language last_error metadata provider_reference',
  },
  fiat_payments: { others: 'disposition intent_id provider_transaction' },
  heartbeats: { others: 'name' },
  idempotency_keys: { forgotten: 'response', others: 'key_hash request_hash' },
  ledger_accounts: { others: 'currency* kind*' },
  ledger_transfers: { others: 'idem kind ref*' },
  measurements: { others: 'name value' },
  one_time_secrets: { forgotten: 'content subject', others: 'hash purpose sealed' },
  overlay_pictures: { forgotten: 'picture', others: 'hash' },
  overlays: { forgotten: 'settings* token' },
  page_handles: { kept: 'handle*', others: 'skeleton' },
  parties: { kept: 'wallet' },
  passkeys: { forgotten: 'label*', others: 'credential_id public_key transports' },
  payees: { forgotten: 'bank_code* last_four* sealed_name*', others: 'account_hash' },
  payers: { forgotten: 'email_hash email_sealed' },
  payment_intents: {
    kept: 'creator_wallet message metadata payout_wallet reference sender_name source_wallet',
    others:
      'execution_mode id input_mint message_hash output_mint provider reference_key token_symbol transaction',
  },
  payment_returns: { others: 'id kind provider_transaction' },
  payout_wallets: { forgotten: 'wallet*' },
  prices: { others: 'mint source' },
  rates: { kept: 'accepted_by', others: 'pair source' },
  receipt_keys: { others: 'key_id public_key' },
  receivables: { others: 'id* ref*' },
  reconciliation_differences: { others: 'kind ours provider_reference theirs' },
  recovery_codes: { others: 'code_hmac' },
  refunds: {
    others:
      'failure_reason* id intent_id* last_error provider_id provider_transaction request_id* send_state source status*',
  },
  report_keys: { others: 'key_id public_key' },
  reserve_reports: { kept: 'short_wallets', others: 'key_id report signature' },
  review_items: { kept: 'details', others: 'kind resolution' },
  sdk_sessions: { forgotten: 'metadata origin reference', others: 'embed_id theme token_hash' },
  sessions: { forgotten: 'network* user_agent*', others: 'device_hash token_hash' },
  status_link_key: { others: 'key' },
  suspense_items: {
    kept: 'note refund_by refund_note resolved_by',
    others: 'provider_transaction reason refund_answer refund_id resolution state',
  },
  sweeps: {
    kept: 'planned_by',
    others: 'failure last_error message mint payer signature signatures state treasury',
  },
  switches: { kept: 'changed_by reason', others: 'name' },
  tip_claims: {
    kept: 'creator_wallet message sender',
    others: 'claim_hash claimed_intent_id tip_id token_symbol',
  },
  tip_decisions: { others: 'state* tip_id*' },
  tip_mails: { forgotten: 'choice' },
  tip_sums: { others: 'mint' },
  tips: {
    kept: 'creator_wallet message* metadata* paid_wallet* reference* sender* sender_name*',
    others:
      'claim_hash claimed_intent_id fiat_details* further_credits id* intent_id kind last_error main_id mint outcome status* token_symbol* underpaid_intent_id',
  },
  totp_factors: { forgotten: 'sealed_secret' },
  users: {
    forgotten:
      'discord_handle* email* frozen_reason name* password_hash registered_network* settings* sol_domain* sol_domain_owner* tip_mails* twitter_handle*',
    kept: 'proven_emails',
  },
  wallet_key_checks: { others: 'wrapped' },
  wallet_transfers: {
    kept: 'payout_wallet*',
    others:
      'failure handed_in last_error message mint* reference_key refusal refusal_code signature* state* transaction',
  },
  wallet_watches: { kept: 'accounts' },
  wallets: { kept: 'public_key*', others: 'last_error sealed_secret' },
  webhook_deliveries: { forgotten: 'answer', others: 'state' },
  webhook_endpoints: {
    forgotten: 'description* last_error url*',
    others: 'disabled* public_key sealed_key sealed_previous sealed_secret told types*',
  },
  withdrawals: {
    forgotten: 'client_network',
    kept: 'account_hash account_last_four* bank_code* name_hash sealed_account sealed_resolved_name',
    others:
      'breaker confirmation_reason currency* device_hash failure_reason* key_hash last_error provider_id provider_reference recipient_code reference* request_hash send_state status*',
  },
}

/** The fields of the JSON columns about people, by what they hold. */
export const jsonFields: Readonly<Record<string, Columns>> = {
  'users.settings': {
    forgotten:
      'acceptedTokens* yieldEnabled* gaslessEnabled* autoConvertUsdc* fiatCollection* minTipUsd* maxTipUsd* hideUnpaidWords* tipsTo*',
  },
  'overlays.settings': {
    forgotten:
      'template* durationMs* gapMs* minUsd* message* position* animation* theme* accent* scale* sound* volume* queue* replayMinutes* hold* dot* tiers* speech* approval* filter* topDays*',
  },
  'tips.fiat_details': { others: 'platformFee* finalAmountUsd* amountNgn* refundedAmount* disputed*' },
  'fiat_intents.metadata': { others: 'platformFee rate rateId basis paidLate assigned' },
  'fiat_intents.instructions': { others: 'bankName accountNumber accountName' },
}

const names = (text = ''): string[] => text.split(' ').filter((name) => name !== '')
const plain = (name: string): string => name.replace('*', '')

export function listedIn({ forgotten, kept, others }: Columns): string[] {
  return [forgotten, kept, others].flatMap(names).map(plain).toSorted()
}

/** The words that rows of a user's tables hold, in the columns that `choose` takes. What is short may stand anywhere. */
async function valuesOf(db: Knex, userId: string, choose: (list: Columns) => string[]): Promise<string[]> {
  const { rows: keys } = await db.raw<{ rows: { table: string; key: string }[] }>(/* sql */ `
    select c.conrelid::regclass::text as table, a.attname as key
    from pg_constraint c join pg_attribute a on a.attrelid = c.conrelid and a.attnum = c.conkey[1]
    where c.contype = 'f' and c.confrelid = 'users'::regclass union all select 'users', 'id'`)
  const values = await Promise.all(
    keys.flatMap(({ table, key }) =>
      choose(columns[table] ?? {}).map(async (column): Promise<unknown[]> => {
        const rows = await db(table)
          .where({ [key]: userId })
          .pluck(column)
        return rows
      }),
    ),
  )
  return [...new Set(values.flat())].filter((one): one is string => typeof one === 'string' && one.length > 5)
}

export function forgottenValues(db: Knex, userId: string): Promise<string[]> {
  return valuesOf(db, userId, ({ forgotten }) => names(forgotten).map(plain))
}

export function exportedValues(db: Knex, userId: string): Promise<string[]> {
  const isExported = (name: string): boolean => name.endsWith('*')
  return valuesOf(db, userId, (list) =>
    Object.values(list).flatMap((text: string) => names(text).filter(isExported).map(plain)),
  )
}
