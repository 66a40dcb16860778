import type { Knex } from 'knex'

/**
 * Personal data (docs/decisions/0059): payers' addresses and bank accounts are sealed, accounts can be closed, and their owners get their data as
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

    alter table withdrawals
      alter column account_number drop not null,
      alter column account_name drop not null,
      -- Number and name, sealed and bound to the reference.
      add sealed_account bytea,
      -- For lists and mails, which show no more.
      add account_last_four text constraint withdrawals_last_four check (account_last_four ~ '^[0-9]{4}$'),
      -- resolved_name, sealed.
      add sealed_resolved_name bytea,
      -- Every row before keeps it.
      add constraint withdrawals_account check (
        (account_number is null) = (account_name is null) and (sealed_account is null) = (account_last_four is null)
        and num_nonnulls(account_number, sealed_account) > 0) not valid;

    -- No release has written payees before.
    alter table payees drop account_name, add sealed_name bytea not null;

    -- The release before sends and lists withdrawals, and sends receipts, by the plain columns. So they are written, and left, for
    -- an hour after this migration, unless there is no account yet. Dropped together with them.
    do $do$
    begin
      execute format(
        'create function personal_data_sealed() returns boolean language sql stable as $f$ select now() >= %L::timestamptz $f$',
        case when exists (select from users) then clock_timestamp() + interval '1 hour' else '-infinity' end);
    end $do$;
  `)
  await knex.raw(fixed(true))
  await knex.raw(fixedTrigger(['sealed_account', 'account_last_four']))
}

/** Loses what is sealed: the addresses of payers, the e-mails to them, bank accounts and payees. */
export async function down(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
    drop trigger withdrawals_fixed on withdrawals;
    alter table withdrawals drop constraint withdrawals_account;
    update withdrawals set account_number = '000000' || account_last_four, account_name = 'Sealed' where account_number is null;
    alter table withdrawals
      drop sealed_account, drop account_last_four, drop sealed_resolved_name,
      alter column account_number set not null, alter column account_name set not null;
    drop function personal_data_sealed();
    delete from payees;
    alter table payees drop sealed_name,
      add account_name text not null check (length(account_name) between 2 and 100);
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
  await knex.raw(fixed(false))
  await knex.raw(fixedTrigger([]))
}

/** The function of the trigger as 0014 has it. `sealed`: a plain account may be sealed, and only so. */
function fixed(sealed: boolean): string {
  const account = (row: string): string =>
    ['number', 'name'].map((part) => `${row}.account_${part}`).join(', ') +
    (sealed ? `, ${row}.sealed_account, ${row}.account_last_four` : '')
  const sealing = /* sql */ `
        and not (old.account_number is not null and new.account_number is null and new.sealed_account is not null
          and coalesce(old.sealed_account = new.sealed_account, true)
          and new.account_last_four = right(old.account_number, 4))`
  return /* sql */ `
    create or replace function withdrawals_check_fixed() returns trigger language plpgsql as $$
    begin
      if (old.id, old.user_id, old.reference, old.currency, old.debit_micro, old.bank_code, old.hold_transfer, old.created_at)
        is distinct from (new.id, new.user_id, new.reference, new.currency, new.debit_micro, new.bank_code,
          new.hold_transfer, new.created_at)
      then raise exception 'a withdrawal does not change' using errcode = '23514'; end if;
      if (${account('old')}) is distinct from (${account('new')})${sealed ? sealing : ''}
      then raise exception 'a withdrawal does not change' using errcode = '23514'; end if;
      if (old.rate_id, old.gross_kobo, old.fee_kobo, old.net_kobo, old.promised_kobo)
        is distinct from (new.rate_id, new.gross_kobo, new.fee_kobo, new.net_kobo, new.promised_kobo)
        -- Only its release prices a held withdrawal again, once, and never above the promise.
        and not (old.status = 'pending' and old.send_state in ('identity_hold', 'confirmation_hold')
          and new.send_state = 'not_sent'
          and new.gross_kobo < old.gross_kobo and new.promised_kobo is not distinct from old.net_kobo)
      then raise exception 'a withdrawal keeps its price' using errcode = '23514'; end if;
      return new;
    end $$`
}

function fixedTrigger(further: readonly string[]): string {
  const columns = `id, user_id, reference, currency, rate_id, debit_micro, gross_kobo, fee_kobo, net_kobo, promised_kobo,
      bank_code, account_number, account_name, hold_transfer, created_at`
  return /* sql */ `
    drop trigger if exists withdrawals_fixed on withdrawals;
    create trigger withdrawals_fixed before update of ${[columns, ...further].join(', ')} on withdrawals
      for each row execute function withdrawals_check_fixed()`
}
