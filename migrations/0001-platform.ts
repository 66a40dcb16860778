import type { Knex } from 'knex'

/**
 * What the tables of several features use, what operators stop and do, what processes measure for each other, and where these rows are.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
    -- Requests and their answers. Kept for a day.
    create table idempotency_keys (
      -- SHA-256 of scope and key.
      key_hash bytea primary key check (length(key_hash) = 32),
      request_hash bytea not null check (length(request_hash) = 32),
      -- The request that works on it or has answered it. Only that request may store the answer.
      holder uuid not null,
      -- Until then a request without an answer counts as running. So a crashed request does not block the key for ever.
      lease_until timestamptz(3) not null,
      response json,
      created_at timestamptz(3) not null default clock_timestamp());
    create index idempotency_keys_age on idempotency_keys (created_at);

    create function refuse_change() returns trigger language plpgsql as $$
    begin
      raise exception '% may not be changed so', tg_table_name using errcode = '23514';
    end $$;

    -- Refuses a step of the column state that the trigger does not list as 'from > to'.
    create function check_step() returns trigger language plpgsql as $$
    begin
      if old.state || ' > ' || new.state <> all (tg_argv)
      then raise exception 'a row of % does not move from % to %', tg_table_name, old.state, new.state
        using errcode = '23514'; end if;
      return new;
    end $$;

    -- The monthly partitions of tables that grow for ever (docs/decisions/0086). No role but the owner's has rights on them:
    -- rows are written and read through the tables.
    create schema partitions;

    -- Makes the partitions that are missing: of this month, of the next two, and of rows that the default partition has got,
    -- which move there. Returns how many. Every role may call it, and it does nothing else. It gives up instead of making
    -- others wait for its locks.
    create function make_partitions() returns int language plpgsql security definer
      set search_path = pg_catalog, public, pg_temp set timezone = 'UTC' set lock_timeout = '500ms' as $$
    declare
      parent record;
      fallback text;
      month timestamptz;
      partition text;
      made int := 0;
    begin
      perform pg_advisory_xact_lock(hashtextextended('make_partitions', 0));
      for parent in
        select c.relname as name, a.attname as time from pg_partitioned_table p join pg_class c on c.oid = p.partrelid
          join pg_attribute a on a.attrelid = c.oid and a.attnum = p.partattrs[0]
         where c.relnamespace = 'public'::regnamespace order by 1
      loop
        fallback := format('partitions.%I', parent.name || '_default');
        if to_regclass(fallback) is null then
          execute format('create table %s partition of %I default', fallback, parent.name);
        end if;
        for month in execute format(
          'select date_trunc(''month'', now()) + n * interval ''1 month'' from generate_series(0, 2) n
            union select date_trunc(''month'', %I) from %s order by 1', parent.time, fallback)
        loop
          partition := format('partitions.%I', parent.name || to_char(month, '"_"YYYY"_"MM'));
          continue when to_regclass(partition) is not null;
          -- Readers wait, too: one that has been planned without the month would not find what moves there.
          execute format('lock table only %I in access exclusive mode', parent.name);
          execute format('create table %s (like %I including all)', partition, parent.name);
          execute format('with late as (delete from %s where %I >= $1 and %2$I < $2 returning *) insert into %s select * from late',
            fallback, parent.time, partition) using month, month + interval '1 month';
          execute format('alter table %I attach partition %s for values from (%L) to (%L)',
            parent.name, partition, month, month + interval '1 month');
          made := made + 1;
        end loop;
      end loop;
      return made;
    end $$;

    -- What the clock has not done: a table whose next month has no partition, and one whose default partition has rows.
    create function partition_faults() returns table (partition text, since timestamptz) language plpgsql stable security definer
      set search_path = pg_catalog, public, pg_temp set timezone = 'UTC' as $$
    declare
      parent record;
    begin
      for parent in
        select c.oid, c.relname as name, a.attname as time from pg_partitioned_table p join pg_class c on c.oid = p.partrelid
          join pg_attribute a on a.attrelid = c.oid and a.attnum = p.partattrs[0]
         where c.relnamespace = 'public'::regnamespace
      loop
        partition := parent.name || to_char(now() + interval '1 month', '"_"YYYY"_"MM');
        since := now();
        if not exists (select from pg_inherits
          where inhparent = parent.oid and inhrelid = to_regclass('partitions.' || partition)) then return next; end if;
        partition := parent.name || '_default';
        for since in execute format('select %I from partitions.%I limit 1', parent.time, partition) loop return next; end loop;
      end loop;
    end $$;

    -- Actions of operators. Rows are only added.
    create table audit_log (
      id bigint generated always as identity primary key,
      at timestamptz(3) not null default clock_timestamp(),
      actor text not null check (length(actor) between 1 and 100),
      action text not null,
      subject text not null,
      details jsonb not null default '{}');
    create index audit_log_subject on audit_log (subject, at);

    -- What an operator or an alarm has stopped. A name without a row here cannot be stopped.
    create table switches (
      name text primary key check (name ~ '^[a-z_-]{1,40}$'),
      -- Null: it runs.
      stopped_at timestamptz(3),
      -- Who changed it last, and why. Null: nobody yet.
      changed_by text check (length(changed_by) between 1 and 100),
      reason text check (length(reason) between 1 and 500),
      constraint switches_change check ((changed_by is null) = (reason is null) and (stopped_at is null or reason is not null)));
    insert into switches (name) values ('payouts'), ('intents'), ('naira-intents'), ('registrations'), ('swaps'), ('maintenance');

    -- When a process lived last of which there must always be one.
    create table heartbeats (
      name text primary key check (name ~ '^[a-z_-]{1,40}$'),
      beat_at timestamptz(3) not null default clock_timestamp());
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

    -- Where these rows were when a clock last saw them. All null: no clock has run yet.
    create table database_epoch (
      one boolean primary key default true check (one),
      system_identifier bigint,
      database_oid oid,
      table_oid oid,
      timeline bigint,
      -- A clock writes it while the server is the one of this row. After a restore: about the time of the backup.
      seen_at timestamptz(3),
      -- When what a restore had lost was last compared and adopted. What is older is looked up before it is sent.
      restored_at timestamptz(3),
      check (num_nulls(system_identifier, database_oid, table_oid, timeline, seen_at) in (0, 5)));
    insert into database_epoch default values;

    -- Where these rows are now. A read-only standby has no timeline of its own. Everybody may call all of it.
    create function database_identity(out system_identifier bigint, out database_oid oid, out table_oid oid, out timeline bigint)
      language sql stable as $$
      select c.system_identifier, (select oid from pg_database where datname = current_database()),
        'database_epoch'::regclass::oid,
        case when not pg_is_in_recovery()
          then ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::bigint end
      from pg_control_system() c $$;

    -- known: these rows are where they were. copied: a dump, or a copy of the database. moved: the server has another
    -- timeline, after a point-in-time recovery or as a promoted standby.
    create function database_state() returns text language sql stable as $$
      select case
        when e.system_identifier is null then 'known'
        when (e.system_identifier, e.database_oid, e.table_oid)
          is distinct from (i.system_identifier, i.database_oid, i.table_oid) then 'copied'
        when e.timeline <> i.timeline then 'moved'
        else 'known' end
      from database_epoch e, database_identity() i $$;
  `)
}
