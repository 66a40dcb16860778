import type { Knex } from 'knex'

const before = ['chain_clearing', 'provider_clearing', 'platform_fee', 'fx', 'suspense']
const added = [
  'custody_wallets',
  'in_transit',
  'treasury',
  'float_ngn',
  'collections_receivable',
  'receivables',
  'provider_fees',
  'equity',
]

/**
 * The platform's accounts that show what it has (docs/decisions/0060). The release before still posts to `chain_clearing` and
 * `provider_clearing`; a job of the clock moves what is left there.
 */
export async function up(knex: Knex): Promise<void> {
  await allow(knex, [...before, ...added])
  await knex.raw(
    `insert into ledger_accounts (kind, currency)
       select kind, currency from unnest(?::text[]) as kind, unnest(array['USDC', 'NGN']) as currency`,
    [added],
  )
}

/** Refused once an account has entries, because entries are never deleted. */
export async function down(knex: Knex): Promise<void> {
  await knex.raw('alter table ledger_accounts disable trigger ledger_accounts_fixed')
  await knex.raw(
    `delete from ledger_accounts a where a.user_id is null and a.kind = any(?::text[])
       and not exists (select from ledger_entries where account_id = a.id)`,
    [added],
  )
  await knex.raw('alter table ledger_accounts enable trigger ledger_accounts_fixed')
  await allow(knex, before)
}

async function allow(knex: Knex, kinds: readonly string[]): Promise<void> {
  const list = kinds.map((kind) => `'${kind}'`).join(', ')
  await knex.raw(/* sql */ `
    alter table ledger_accounts drop constraint ledger_accounts_platform,
      add constraint ledger_accounts_platform check (user_id is not null or kind in (${list}))`)
}
