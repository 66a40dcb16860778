import type { Knex } from 'knex'

/** Last known token prices, and exchange rates. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
    create table prices (
      mint text primary key,
      usd numeric not null check (usd > 0),
      source text not null,
      as_of timestamptz not null);

    -- Accepted rates, and rates that jumped and wait for an operator (accepted_at is null).
    create table rates (
      id bigint generated always as identity primary key,
      pair text not null check (pair = 'USD/NGN'),
      value numeric(20, 8) not null check (value > 0),
      source text not null,
      as_of timestamptz(3) not null,
      accepted_at timestamptz(3),
      accepted_by text,
      created_at timestamptz(3) not null default clock_timestamp(),
      check ((accepted_at is null) = (accepted_by is null)));
    create index rates_accepted on rates (pair, accepted_at desc) where accepted_at is not null;
    create index rates_refused on rates (pair, created_at desc) where accepted_at is null;
  `)
}
