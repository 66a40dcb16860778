import type { Knex } from 'knex'

/**
 * Money paid by card stays pending for some days; withdrawals to one bank account or one name are added up over all creators;
 * payouts have limits and can be paused (docs/decisions/0062).
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
    alter table fiat_payments
      -- When what it credits may be withdrawn. Null: at once.
      add available_at timestamptz(3);

    -- Credits of card payments that are pending: the work of making them available.
    create table card_reserves (
      -- The key of the ledger transfer that reserved it.
      id text primary key,
      transfer_id bigint not null unique references ledger_transfers,
      available_at timestamptz(3) not null,
      -- The work: due_at is the schedule and the lease (taking the row moves it forward); null = available, or given back.
      due_at timestamptz,
      attempts int not null default 0);
    create index card_reserves_due on card_reserves (due_at) where due_at is not null;

    alter table withdrawals
      -- Keyed hash of the account holder's name at the bank. Null: not known, or requested before it was recorded.
      add name_hash bytea constraint withdrawals_name_hash check (length(name_hash) = 32),
      -- The limit of payouts that it waits for, and since when. Null: none.
      add breaker text,
      add breaker_since timestamptz(3),
      -- An operator has it sent beyond the limits.
      add breaker_released_at timestamptz(3),
      -- When its last request began, for the sums of the limits: sent_at, which has no index, from this release on.
      add counted_at timestamptz(3),
      add constraint withdrawals_breaker check (
        (breaker is null) = (breaker_since is null)
        and breaker in ('creator_day', 'creator_hour', 'platform_day', 'platform_hour')) not valid;
    -- No row has these columns yet, and no release wrote account_hash before, so they are built in one scan.
    create index withdrawals_account_uses on withdrawals (account_hash, created_at) where account_hash is not null;
    create index withdrawals_name on withdrawals (name_hash, created_at) where name_hash is not null;
    create index withdrawals_counted on withdrawals (counted_at) where counted_at is not null;
    create index withdrawals_breaker_waiting on withdrawals (created_at) where breaker is not null and status = 'pending';

    -- What an operator or an alarm has stopped. A name without a row here cannot be stopped.
    create table switches (
      name text primary key check (name ~ '^[a-z_]{1,40}$'),
      -- Null: it runs.
      stopped_at timestamptz(3),
      -- Who changed it last, and why. Null: nobody yet.
      changed_by text check (length(changed_by) between 1 and 100),
      reason text check (length(reason) between 1 and 500),
      constraint switches_change check ((changed_by is null) = (reason is null) and (stopped_at is null or reason is not null)));
    insert into switches (name) values ('payouts');
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
    do $do$
    begin
      -- The release before would leave this money pending for ever.
      if exists (select from card_reserves where due_at is not null)
      then raise exception 'card money is pending: wait until it is available'; end if;
    end $do$;
    drop table card_reserves, switches;
    drop index withdrawals_account_uses;
    alter table fiat_payments drop available_at;
    alter table withdrawals
      drop name_hash, drop breaker, drop breaker_since, drop breaker_released_at, drop counted_at;
  `)
}
