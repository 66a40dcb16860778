import type { Knex } from 'knex'

/**
 * What protects an account: known devices, mailed links, changes of the e-mail that can be taken back, second factors, and
 * freezing (docs/decisions/0055). Secrets are stored hashed or sealed.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
    alter table users
      -- Null: void. The owner signs in with a mailed code and sets a new one.
      alter column password_hash drop not null,
      -- The client network that registered the account. Null: registered before it was recorded.
      add registered_network text,
      -- API keys made before are void, bank accounts and devices used before are not trusted. Null: none were voided.
      add credentials_void_before timestamptz(3),
      -- While set, nothing can be changed or withdrawn.
      add frozen_at timestamptz(3),
      add frozen_reason text,
      -- The last time a second factor was added or removed.
      add factors_changed_at timestamptz(3),
      add tip_mails text not null default 'off' constraint users_tip_mails check (tip_mails in ('off', 'each', 'daily')),
      add constraint users_frozen check ((frozen_at is null) = (frozen_reason is null));

    alter table sessions
      -- Public: names the session in its owner's list.
      add id uuid not null default gen_random_uuid(),
      -- The client network and the device that opened it. Null: opened before they were recorded.
      add network text,
      add device_hash bytea constraint sessions_device check (length(device_hash) = 32),
      add user_agent text constraint sessions_user_agent check (length(user_agent) <= 200);
    create unique index sessions_id on sessions (id);

    -- Browsers that have signed in to an account, by their device cookie.
    create table devices (
      user_id uuid not null references users,
      device_hash bytea not null check (length(device_hash) = 32),
      network text not null,
      user_agent text check (length(user_agent) <= 200),
      first_seen_at timestamptz(3) not null default clock_timestamp(),
      last_seen_at timestamptz(3) not null default clock_timestamp(),
      primary key (user_id, device_hash));
    create index devices_seen on devices (last_seen_at);

    -- Links mailed to the owner. Each works once.
    create table account_links (
      token_hash bytea primary key check (length(token_hash) = 32),
      user_id uuid not null references users,
      purpose text not null check (purpose in ('password_reset', 'email_change', 'email_undo', 'not_me')),
      -- The new address, or the old one of an undo.
      email text,
      created_at timestamptz(3) not null default clock_timestamp(),
      expires_at timestamptz(3) not null,
      used_at timestamptz(3),
      constraint account_links_email check ((email is null) = (purpose in ('password_reset', 'not_me'))));
    create index account_links_user on account_links (user_id, purpose);
    create index account_links_expired on account_links (expires_at);

    -- Changes of an account's e-mail. Until undo_until, codes for money go to the oldest address that can be restored.
    create table email_changes (
      id bigint generated always as identity primary key,
      user_id uuid not null references users,
      old_email text not null,
      new_email text not null,
      -- Whether the account had proven the old address. If not, whoever registered it is not its owner.
      old_proven boolean not null default false,
      changed_at timestamptz(3) not null default clock_timestamp(),
      undo_until timestamptz(3) not null,
      undone_at timestamptz(3));
    create index email_changes_user on email_changes (user_id, changed_at);
    create index email_changes_old on email_changes (old_email, undo_until);

    create table totp_factors (
      user_id uuid primary key references users,
      sealed_secret bytea not null,
      created_at timestamptz(3) not null default clock_timestamp(),
      -- Null: not confirmed with a first code, so not in force.
      confirmed_at timestamptz(3),
      -- The time step of the last accepted code. No code of this step or an earlier one is accepted.
      last_step bigint);

    create table recovery_codes (
      user_id uuid not null references users,
      code_hmac bytea not null check (length(code_hmac) = 32),
      used_at timestamptz(3),
      primary key (user_id, code_hmac));

    create table passkeys (
      id uuid primary key default gen_random_uuid(),
      user_id uuid not null references users,
      credential_id bytea not null unique check (length(credential_id) between 1 and 1023),
      public_key bytea not null,
      counter bigint not null default 0 check (counter >= 0),
      transports text[] not null default '{}',
      label text not null check (length(label) between 1 and 100),
      created_at timestamptz(3) not null default clock_timestamp(),
      last_used_at timestamptz(3));
    create index passkeys_user on passkeys (user_id);

    -- What a passkey is asked to sign. Each is answered once.
    create table passkey_challenges (
      challenge bytea primary key check (length(challenge) = 32),
      -- Null: signing in without naming an account.
      user_id uuid references users,
      purpose text not null check (purpose in ('add', 'login', 'confirm')),
      expires_at timestamptz(3) not null);
    create index passkey_challenges_expired on passkey_challenges (expires_at);

    -- One row per account, inserted with its first attempt at a second factor. Its lock serialises the account's attempts.
    create table factor_attempts (
      user_id uuid primary key references users,
      -- Failed attempts of the last 15 minutes, oldest first.
      failed_at timestamptz[] not null default '{}' check (cardinality(failed_at) <= 5),
      locked_until timestamptz);
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
    drop table factor_attempts, passkey_challenges, passkeys, recovery_codes, totp_factors, email_changes, account_links, devices;
    alter table sessions drop id, drop network, drop device_hash, drop user_agent;
    update users set password_hash = '' where password_hash is null;
    alter table users
      alter column password_hash set not null,
      drop registered_network, drop credentials_void_before, drop frozen_at, drop frozen_reason, drop factors_changed_at, drop tip_mails;
  `)
}
