import type { Knex } from 'knex'

/**
 * Users, their sessions, their one-time codes with limits against guessing, and their wallets. Secrets are stored hashed or
 * sealed.
 */
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
      created_at timestamptz(3) not null default clock_timestamp(),
      -- The domain's owner on the chain when it was linked. The link is valid while the owner is the same.
      sol_domain_owner text,
      identity_verified_at timestamptz(3),
      constraint users_sol_domain_owner check ((sol_domain is null) = (sol_domain_owner is null)),
      constraint users_sol_domain_form check (sol_domain ~ '^[^\\s/]{1,250}[.]sol$'));
    create unique index users_twitter on users (lower(twitter_handle)) where twitter_handle is not null;
    create unique index users_discord on users (lower(discord_handle)) where discord_handle is not null;
    create unique index users_sol_domain on users (lower(sol_domain)) where sol_domain is not null;

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

    -- One row per account, inserted with its first code or its first attempt. Its lock serialises the account's attempts.
    create table otp_codes (
      user_id uuid primary key references users,
      -- HMAC of the newest code, keyed with a secret that is not in the database; null until there is a code.
      code_hmac bytea check (length(code_hmac) = 32),
      expires_at timestamptz,
      used_at timestamptz,
      -- Failed attempts of the last 15 minutes, oldest first. The fifth sets locked_until.
      failed_at timestamptz[] not null default '{}' check (cardinality(failed_at) <= 5),
      locked_until timestamptz,
      changed_at timestamptz not null default clock_timestamp(),
      -- SHA-256 of the newest link's token (docs/decisions/0046); null without one and once it is used.
      link_hash bytea check (length(link_hash) = 32),
      -- The newest link is valid for 15 minutes from then, and no other is mailed meanwhile.
      link_mailed_at timestamptz,
      check ((code_hmac is null) = (expires_at is null)),
      check (link_hash is null or link_mailed_at is not null));
    create index otp_codes_changed on otp_codes (changed_at);
    create unique index otp_codes_link on otp_codes (link_hash) where link_hash is not null;

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

    -- A check of the key that seals custody wallets (docs/decisions/0042).
    create table wallet_key_checks (
      key_version int primary key,
      -- A known text that the key has wrapped. Another key does not unwrap it.
      wrapped bytea not null,
      created_at timestamptz(3) not null default clock_timestamp());

    -- One row per person or wallet. A creator's custody wallet and user id are one party. Both are filled in, never changed.
    create table parties (
      id bigint generated always as identity primary key,
      wallet text unique,
      user_id uuid unique references users,
      seen_at timestamptz not null default clock_timestamp(),
      check (wallet is not null or user_id is not null));
  `)
}
