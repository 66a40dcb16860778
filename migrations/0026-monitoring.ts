import type { Knex } from 'knex'

/** More switches, and what processes measure for each other (docs/decisions/0071). Only new tables and rows. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
    alter table switches
      drop constraint switches_name_check,
      add constraint switches_name_check check (name ~ '^[a-z_-]{1,40}$');
    insert into switches (name) values ('intents'), ('naira-intents'), ('registrations'), ('swaps'), ('maintenance');

    -- When a process lived last of which there must always be one.
    create table heartbeats (
      name text primary key check (name ~ '^[a-z_-]{1,40}$'),
      beat_at timestamptz(3) not null default clock_timestamp(),
      -- When another process has last reported it missing. Null: it is there.
      reported_at timestamptz(3));
    insert into heartbeats (name) values ('clock');

    -- What one process measures for all: the state of the rows, and whether providers answer.
    create table measurements (
      name text primary key check (name ~ '^[a-z_-]{1,40}$'),
      -- Null: never.
      measured_at timestamptz(3),
      value jsonb not null default '{}',
      -- A process measures it until then.
      leased_until timestamptz(3) not null default 'epoch') with (fillfactor = 50);
    insert into measurements (name) values ('state'), ('chain'), ('prices'), ('rates'), ('fiatpay'), ('mail');
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
    drop table heartbeats, measurements;
    delete from switches where name <> 'payouts';
    alter table switches
      drop constraint switches_name_check,
      add constraint switches_name_check check (name ~ '^[a-z_]{1,40}$');
  `)
}
