import type { Knex } from 'knex'

/**
 * Personal data (docs/decisions/0059): payers' addresses are sealed, accounts can be closed, and their owners get their data as
 * a file. Plain columns stay until no process of the release before runs: a job of the clock seals them row by row and sets them
 * to null.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
    alter table payers
      alter column email drop not null,
      -- A keyed hash, to find a payer again. Not unique: two first tips at the same time make two rows.
      add email_hash bytea constraint payers_email_hash check (length(email_hash) = 32),
      -- All three null: erased when it was old enough, or on request.
      add email_sealed bytea,
      -- The last naira tip with this address. Null: it was before this column.
      add last_tip_at timestamptz(3);
    alter table payers alter column last_tip_at set default clock_timestamp();
    create index payers_email on payers (email_hash) where email_hash is not null;

    -- Not written any more: the provider has it, and payers has the address for the receipt.
    alter table fiat_intents alter column payer_email drop not null;

    alter table emails
      alter column recipient drop not null,
      -- Of somebody without an account. Then recipient is null.
      add sealed_recipient bytea,
      -- Every row before keeps it.
      add constraint emails_address check ((recipient is null) <> (sealed_recipient is null)) not valid;

    alter table users
      -- The owner closed the account: its name, address and handles are gone, its ledger and tips stay.
      add closed_at timestamptz(3);
    create index users_closed on users (closed_at) where closed_at is not null;

    -- An account's data as a file for its owner. One row per account, its newest request.
    create table data_exports (
      -- The account.
      id uuid primary key references users,
      requested_at timestamptz(3) not null default clock_timestamp(),
      ready_at timestamptz(3),
      -- SHA-256 of the mailed link's token.
      token_hash bytea unique check (length(token_hash) = 32),
      -- The file, compressed and sealed. Null: not made yet, or deleted because its link has expired.
      sealed_file bytea,
      expires_at timestamptz(3),
      -- The work: due_at is the schedule and the lease (taking the row moves it forward); null = made or given up.
      due_at timestamptz default clock_timestamp(),
      attempts int not null default 0,
      last_error text,
      constraint data_exports_ready check (num_nonnulls(ready_at, token_hash, expires_at) in (0, 3)),
      constraint data_exports_file check (sealed_file is null or ready_at is not null),
      constraint data_exports_work check (ready_at is null or due_at is null));
    create index data_exports_due on data_exports (due_at) where due_at is not null;
    create index data_exports_file on data_exports (expires_at) where sealed_file is not null;
  `)
}

/** Loses the addresses of payers that are sealed, and the e-mails to them. */
export async function down(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
    drop table data_exports;
    drop index users_closed;
    alter table users drop closed_at;
    delete from emails where recipient is null;
    alter table emails drop constraint emails_address, drop sealed_recipient, alter column recipient set not null;
    update fiat_intents set payer_email = 'unknown@example.com' where payer_email is null;
    alter table fiat_intents alter column payer_email set not null;
    update payers set email = 'payer-' || id || '@example.com' where email is null;
    alter table payers drop email_hash, drop email_sealed, drop last_tip_at, alter column email set not null;
  `)
}
