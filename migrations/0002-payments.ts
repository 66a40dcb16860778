import type { Knex } from 'knex'

/** Last known prices and the crypto payment intents. Raw token amounts are numeric(20,0): an SPL amount is a u64. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
    create table prices (
      mint text primary key,
      usd numeric not null check (usd > 0),
      source text not null,
      as_of timestamptz not null);

    create table payment_intents (
      id text primary key check (id like 'pi\\_%'),
      recipient_party bigint not null references parties,
      payout_wallet text not null,
      source_wallet text not null,
      input_mint text not null,
      input_raw numeric(20, 0) not null check (input_raw > 0),
      output_mint text not null,
      expected_raw numeric(20, 0) not null check (expected_raw > 0),
      fee_raw numeric(20, 0) not null check (fee_raw >= 0),
      amount_usd_cents bigint not null check (amount_usd_cents >= 0),
      token_symbol text not null,
      provider text not null check (provider in ('direct-transfer', 'aggregator-ultra', 'aggregator-v6')),
      execution_mode text not null check (execution_mode in ('sync', 'async')),
      reference_key text unique,
      message_hash bytea unique check (length(message_hash) = 32),
      transaction bytea not null,
      last_valid_block_height bigint not null,
      created_at timestamptz(3) not null default clock_timestamp(),
      check (reference_key is not null or message_hash is not null));
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop table payment_intents, prices')
}
