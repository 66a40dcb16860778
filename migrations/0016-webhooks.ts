import type { Knex } from 'knex'

const sealedColumns = ['sealed_secret', 'sealed_previous', 'sealed_key'] as const

/** Webhooks: where a creator's events are sent, and what became of each (docs/decisions/0074). */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
    create table webhook_endpoints (
      id uuid primary key default gen_random_uuid(),
      user_id uuid not null references users,
      url text not null check (length(url) <= 2048),
      description text check (length(description) <= 200),
      -- Empty: every type.
      types text[] not null,
      sealed_secret bytea not null,
      -- The secret before a rotation also signs until then.
      sealed_previous bytea,
      previous_until timestamptz(3),
      -- The seed of the Ed25519 key, and its public key.
      sealed_key bytea not null,
      public_key bytea not null check (length(public_key) = 32),
      created_at timestamptz(3) not null default clock_timestamp(),
      -- When somebody set the URL, or enabled it.
      pointed_at timestamptz(3) not null default clock_timestamp(),
      -- Null: active. By whom or why: an answer 410, days of failures, or set up by somebody who may not have been the owner.
      disabled text check (disabled in ('creator', 'operator', 'gone', 'failing', 'void')),
      disabled_at timestamptz(3),
      -- The events up to this one are deliveries, or not of these types.
      cursor bigint not null,
      -- The event that was tried last.
      tried bigint,
      -- The first failure since the last success, and how many pages in a row have failed.
      failing_since timestamptz(3),
      failures int not null default 0,
      -- An attempt of the last page has taken long.
      slow boolean not null default false,
      -- What the creator was mailed about these failures.
      told text check (told in ('failing', 'disabled')),
      -- Nothing is sent before: the endpoint has asked for it, or fails.
      paused_until timestamptz,
      -- The work: due_at is the schedule and the lease; null = nothing waits. attempts is the fence.
      due_at timestamptz,
      attempts int not null default 0,
      -- A dispatcher has it, so due_at is the lease; more: something was added meanwhile.
      working boolean not null default false,
      more boolean not null default false,
      last_error text,
      constraint webhook_endpoints_previous check ((sealed_previous is null) = (previous_until is null)),
      constraint webhook_endpoints_disabled check ((disabled is null) = (disabled_at is null)),
      constraint webhook_endpoints_work check (disabled is null or due_at is null)) with (fillfactor = 50);
    create index webhook_endpoints_user on webhook_endpoints (user_id);
    create index webhook_endpoints_due on webhook_endpoints (due_at) where due_at is not null;
    create index webhook_endpoints_failing on webhook_endpoints (failing_since) where failing_since is not null;

    -- An event for an endpoint. What is sent is read from events.
    create table webhook_deliveries (
      endpoint_id uuid not null references webhook_endpoints on delete cascade,
      user_id uuid not null references users,
      sequence bigint not null,
      -- The event's recorded_at, so that only its partition is looked into.
      event_at timestamptz(3) not null,
      state text not null default 'pending' check (state in ('pending', 'delivered', 'failed')),
      -- All attempts, and those since it was queued last, which the schedule counts.
      attempts int not null default 0,
      tries int not null default 0,
      due_at timestamptz,
      created_at timestamptz(3) not null default now(),
      tried_at timestamptz(3),
      -- Of the last attempt: the status and the first KB of the answer, or why there is none.
      status smallint,
      ms int,
      answer text,
      constraint webhook_deliveries_due check ((state = 'pending') = (due_at is not null)),
      primary key (endpoint_id, sequence)) with (fillfactor = 70);
    create index webhook_deliveries_pending on webhook_deliveries (endpoint_id, due_at, sequence) where state = 'pending';
    create index webhook_deliveries_failed on webhook_deliveries (endpoint_id, sequence) where state = 'failed';
    create index webhook_deliveries_user on webhook_deliveries (user_id);
    create index webhook_deliveries_created on webhook_deliveries using brin (created_at);
  `)
  for (const column of sealedColumns)
    await knex.raw(/* sql */ `
      create function webhook_endpoints_${column}_key() returns trigger language plpgsql as $$
        begin
          perform refuse_retired_data_key(new.${column});
          return new;
        end $$;
      create trigger webhook_endpoints_${column}_key before insert or update of ${column} on webhook_endpoints
        for each row when (new.${column} is not null) execute function webhook_endpoints_${column}_key();
    `)
}
