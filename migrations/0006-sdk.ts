import type { Knex } from 'knex'

/** SDK sessions: a browser's access for one creator on one site, for 15 minutes. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
    create table sdk_sessions (
      id uuid primary key default gen_random_uuid(),
      token_hash bytea not null unique check (length(token_hash) = 32),
      -- Public and random. Names the session in the embed's URL and grants no access.
      embed_id text not null unique,
      user_id uuid not null references users,
      origin text not null,
      theme text not null check (theme in ('dark', 'light')),
      intents smallint not null default 0 check (intents >= 0),
      created_at timestamptz(3) not null default clock_timestamp(),
      expires_at timestamptz(3) not null,
      consumed_at timestamptz(3),
      -- Of its intents, where a request gives none of its own.
      reference text,
      metadata json);
    create index sdk_sessions_expired on sdk_sessions (expires_at);
    -- A consumed session stays consumed. Between the other states every step is listed.
    create trigger sdk_sessions_steps before update of consumed_at on sdk_sessions
      for each row when (old.consumed_at is not null and new.consumed_at is null) execute function refuse_change();
  `)
}
