import type { Knex } from 'knex'

/** Knows a restored database by itself (docs/decisions/0072). Only a new table, new functions and an empty column. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
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

    -- When the provider had it although these rows did not. It is looked up, and never sent.
    alter table withdrawals add column adopted_at timestamptz(3);
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
    alter table withdrawals drop column adopted_at;
    drop function database_state();
    drop function database_identity();
    drop table database_epoch;
  `)
}
