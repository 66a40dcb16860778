import type { Knex } from 'knex'

/** Users, their sessions and their wallets. Secrets are stored hashed or sealed. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
    create table users (
      id uuid primary key default gen_random_uuid(),
      email text not null unique check (email = lower(email)),
      name text not null check (length(name) between 2 and 100),
      password_hash text not null,
      email_verified_at timestamptz(3),
      sol_domain text,
      twitter_handle text,
      discord_handle text,
      settings jsonb not null default '{}',
      created_at timestamptz(3) not null default clock_timestamp());
    create unique index users_twitter on users (lower(twitter_handle)) where twitter_handle is not null;
    create unique index users_discord on users (lower(discord_handle)) where discord_handle is not null;

    create table sessions (
      token_hash bytea primary key check (length(token_hash) = 32),
      user_id uuid not null references users,
      created_at timestamptz(3) not null default clock_timestamp(),
      idle_until timestamptz(3) not null,
      absolute_until timestamptz(3) not null);
    create index sessions_user on sessions (user_id);

    create table access_tokens (
      token_hash bytea primary key check (length(token_hash) = 32),
      -- Issued with a session and revoked with it.
      session_hash bytea not null references sessions on delete cascade,
      user_id uuid not null references users,
      expires_at timestamptz(3) not null);
    create index access_tokens_session on access_tokens (session_hash);

    create table wallets (
      id bigint generated always as identity primary key,
      user_id uuid not null unique references users,
      public_key text unique check (length(public_key) between 32 and 44),
      sealed_secret bytea,
      key_version int,
      due_at timestamptz default clock_timestamp(),
      attempts int not null default 0,
      last_error text,
      -- A wallet has its public key and its sealed secret, or neither.
      check ((public_key is null) = (sealed_secret is null)),
      check ((public_key is null) = (key_version is null)));
    create index wallets_due on wallets (due_at) where due_at is not null;

    -- One row per person or wallet. A creator's custody wallet and user id are one party. Both are filled in, never changed.
    create table parties (
      id bigint generated always as identity primary key,
      wallet text unique,
      user_id uuid unique references users,
      seen_at timestamptz not null default clock_timestamp(),
      check (wallet is not null or user_id is not null));
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop table parties, wallets, access_tokens, sessions, users')
}
