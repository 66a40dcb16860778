import type { Knex } from 'knex'

/** API keys, and the sites that may embed the widget. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
    create table api_keys (
      id uuid primary key default gen_random_uuid(),
      user_id uuid not null references users,
      -- The public part, shown in lists. The whole key is stored as a hash only.
      prefix text not null unique,
      key_hash bytea not null unique check (length(key_hash) = 32),
      label text check (length(label) <= 100),
      created_at timestamptz(3) not null default clock_timestamp(),
      last_used_at timestamptz(3),
      revoked_at timestamptz(3));
    create index api_keys_open on api_keys (user_id, created_at) where revoked_at is null;

    create table creator_domains (
      user_id uuid not null references users on delete cascade,
      -- host, *.host, or host:port; lower case, punycode.
      domain text not null check (domain = lower(domain) and length(domain) <= 260),
      position smallint not null,
      primary key (user_id, domain));
  `)
}
