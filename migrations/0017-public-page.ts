import type { Knex } from 'knex'

/** Public pages of creators, `/@<handle>` (docs/decisions/0077). */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
    create table page_handles (
      handle text primary key constraint page_handles_form check (handle ~ '^[a-z0-9_]{3,30}$'),
      -- The same for handles that a reader takes for one another.
      skeleton text not null,
      -- Null: of a closed account.
      user_id uuid references users,
      -- Null: the creator's handle now. Else it leads to the creator, and is nobody else's, until then.
      until timestamptz(3),
      constraint page_handles_owner check (user_id is not null or until is not null));
    create unique index page_handles_current on page_handles (user_id) where until is null;
    create index page_handles_user on page_handles (user_id);
    create index page_handles_skeleton on page_handles (skeleton);
    create index page_handles_until on page_handles (until) where until is not null;

    create table creator_pages (
      user_id uuid primary key references users,
      words text check (length(words) <= 500),
      -- [{ title, url }], at most five.
      links json not null default '[]',
      goal_title text check (length(goal_title) <= 80),
      goal_cents bigint check (goal_cents > 0),
      -- Tips recorded since then count.
      goal_since timestamptz(3),
      wall boolean not null default false,
      robots boolean not null default true,
      currency text check (currency in ('NGN', 'USD')),
      language text check (language in ('en', 'pcm', 'fr')),
      thanks text check (length(thanks) <= 500),
      -- WebP, made by the service.
      picture bytea check (length(picture) <= 262144),
      -- Of the picture; in its address.
      picture_hash text,
      constraint creator_pages_goal check (num_nonnulls(goal_title, goal_cents, goal_since) in (0, 3)),
      constraint creator_pages_picture check ((picture is null) = (picture_hash is null)));
  `)
}
