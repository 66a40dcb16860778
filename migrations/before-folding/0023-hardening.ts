import type { Knex } from 'knex'

/** A check of the key that seals custody wallets (docs/decisions/0042), and what deleting old rates looks up. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
    create table wallet_key_checks (
      key_version int primary key,
      -- A known text that the key has wrapped. Another key does not unwrap it.
      wrapped bytea not null,
      created_at timestamptz(3) not null default clock_timestamp());
    create index withdrawals_rate on withdrawals (rate_id);
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop index withdrawals_rate; drop table wallet_key_checks')
}
