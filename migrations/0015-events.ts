import type { Knex } from 'knex'

/** The log of each creator's events: what streams, polls and webhooks read (docs/decisions/0025). */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
    -- The last event of each creator. Its row lock orders the events and numbers them without holes; readers find changes by its index.
    create table event_counters (
      user_id uuid primary key references users,
      last_sequence bigint not null,
      last_at timestamptz(3) not null,
      -- The last event before the month of last_at (UTC): who reads after it reads the partition of this month only.
      last_before_month bigint not null default 0) with (fillfactor = 50);
    create index event_counters_recent on event_counters (last_at);

    create table events (
      -- No foreign key: partitions would lock users whenever one is made or detached. The counter of the same statement has it.
      user_id uuid not null,
      sequence bigint not null check (sequence > 0),
      type text not null,
      -- What it is about: the id of a tip, the reference of a withdrawal, the id of a dispute.
      subject text not null,
      -- As it was then. json, not jsonb: every reader gets the same bytes.
      data json not null,
      -- The place in a trace of the request that began it (W3C Trace Context). Null: none did.
      traceparent text,
      recorded_at timestamptz(3) not null,
      -- The counter makes sequences unique: a key over all partitions needs their column.
      primary key (user_id, sequence, recorded_at)) partition by range (recorded_at);
    select make_partitions();
  `)
}
