import type { Knex } from 'knex'

/**
 * The provider's balance in our books, and the signed reports that show what we owe against what we have (docs/decisions/0023).
 * Amounts are whole kobo.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
    -- The naira that the provider shows us, and what each reading meant for the ledger.
    create table float_readings (
      id bigint generated always as identity primary key,
      read_at timestamptz(3) not null default clock_timestamp(),
      -- As the provider shows it; negative when it is owed more than it holds for us.
      balance bigint not null,
      -- What float_ngn has, with what this reading moved there from collections_receivable and from in_transit.
      book bigint not null,
      settled bigint not null check (settled >= 0),
      arrived bigint not null check (arrived >= 0),
      -- At most so much has the provider taken for payouts and refunds that are not booked yet.
      under_way bigint not null check (under_way >= 0),
      -- What neither explains: above zero more than the books know of, below zero less.
      unexplained bigint not null);
    create index float_readings_time on float_readings (read_at);

    -- Public keys of report signatures (Ed25519, base64url). They stay, so that old reports can be checked.
    create table report_keys (
      -- The key's thumbprint (RFC 7638).
      key_id text primary key check (key_id ~ '^[A-Za-z0-9_-]{43}$'),
      public_key text not null unique check (public_key ~ '^[A-Za-z0-9_-]{43}$'),
      created_at timestamptz(3) not null default clock_timestamp());

    create table reserve_reports (
      id bigint generated always as identity primary key,
      made_at timestamptz(3) not null default clock_timestamp(),
      -- The day of a daily report, in UTC. Null: made on demand.
      day date unique,
      -- The exact text that is signed, and its signature (base64url).
      report text not null,
      signature text not null check (signature ~ '^[A-Za-z0-9_-]{86}$'),
      key_id text not null references report_keys,
      -- For operators only: the wallets that hold less than the book says, with both amounts.
      short_wallets jsonb not null default '[]');
    create trigger report_keys_kept before update or delete or truncate on report_keys
      for each statement execute function refuse_change();
    create trigger reserve_reports_kept before update or delete or truncate on reserve_reports
      for each statement execute function refuse_change();
  `)
}
