import type { Knex } from 'knex'

/** Overlays for streaming programs, and what creators decide about the words of tips (docs/decisions/0079). */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
    create table overlays (
      user_id uuid primary key references users,
      -- In the address. Who has it sees what the creator's tips say, which this database has anyway: so it is not sealed.
      token text not null unique check (token ~ '^[A-Za-z0-9_-]{43}$'),
      -- What the creator has set; the rest are the defaults of the code.
      settings jsonb not null default '{}',
      -- Stamps of the creator's stream (creator_cursors): the last change of token or settings, the last test alert.
      changed_at timestamptz(3) not null,
      tested_at timestamptz(3),
      tested_usd numeric(9, 2));

    -- Pictures for alerts.
    create table overlay_pictures (
      user_id uuid not null references users,
      -- Of the picture; its name in the settings.
      hash text not null,
      -- WebP, made by the service.
      picture bytea not null check (length(picture) <= 1048576),
      added_at timestamptz(3) not null default clock_timestamp(),
      primary key (user_id, hash));

    create table tip_decisions (
      tip_id text primary key references tips,
      user_id uuid not null references users,
      -- held: kept off the overlay and the pages. hidden: its words are deleted.
      state text not null check (state in ('approved', 'held', 'hidden')),
      -- The tip had waited for this approval, so it is announced at this stamp and not at its confirmation.
      announces boolean not null,
      -- A stamp of the creator's stream.
      decided_at timestamptz(3) not null);
    create unique index tip_decisions_stream on tip_decisions (user_id, decided_at);
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop table tip_decisions, overlay_pictures, overlays')
}
