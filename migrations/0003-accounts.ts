import type { Knex } from 'knex'

/**
 * Users, their sessions and devices, secrets that are presented once with limits against guessing, second factors, wallets and payout wallets.
 * Secrets are stored hashed or sealed (docs/decisions/0026).
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
    create table users (
      id uuid primary key default gen_random_uuid(),
      email text not null unique check (email = lower(email)),
      name text not null check (length(name) between 2 and 100),
      -- Null: void. The owner signs in with a mailed code and sets a new one.
      password_hash text,
      email_verified_at timestamptz(3),
      sol_domain text,
      twitter_handle text,
      discord_handle text,
      settings jsonb not null default '{}',
      created_at timestamptz(3) not null default clock_timestamp(),
      -- The domain's owner on the chain when it was linked. The link is valid while the owner is the same.
      sol_domain_owner text,
      identity_verified_at timestamptz(3),
      -- The client network that registered the account. Null: it is not known.
      registered_network text,
      -- API keys made before are void, bank accounts and devices used before are not trusted. Null: none were voided.
      credentials_void_before timestamptz(3),
      -- While set, nothing can be changed or withdrawn.
      frozen_at timestamptz(3),
      frozen_reason text,
      -- The last time a second factor was added or removed.
      factors_changed_at timestamptz(3),
      tip_mails text not null default 'off' constraint users_tip_mails check (tip_mails in ('off', 'each', 'daily')),
      -- The owner closed the account: its name, address and handles are gone, its ledger and tips stay.
      closed_at timestamptz(3),
      -- Keyed hashes of the addresses that its owners have proven. They stay when it is closed: a debt is found again by them.
      proven_emails bytea[] not null default '{}',
      constraint users_frozen check ((frozen_at is null) = (frozen_reason is null)),
      constraint users_sol_domain_owner check ((sol_domain is null) = (sol_domain_owner is null)),
      constraint users_sol_domain_form check (sol_domain ~ '^[^\\s/]{1,250}[.]sol$'));
    create unique index users_twitter on users (lower(twitter_handle)) where twitter_handle is not null;
    create unique index users_discord on users (lower(discord_handle)) where discord_handle is not null;
    create unique index users_sol_domain on users (lower(sol_domain)) where sol_domain is not null;
    create index users_frozen on users (frozen_at) where frozen_at is not null;
    create index users_closed on users (closed_at) where closed_at is not null;
    -- Operators look for a creator by how the name begins.
    create index users_name on users (lower(name) text_pattern_ops);
    create index users_proven_emails on users using gin (proven_emails);

    create table sessions (
      token_hash bytea primary key check (length(token_hash) = 32),
      user_id uuid not null references users,
      created_at timestamptz(3) not null default clock_timestamp(),
      idle_until timestamptz(3) not null,
      absolute_until timestamptz(3) not null,
      -- Public: names the session in its owner's list.
      id uuid not null default gen_random_uuid(),
      -- The client network and the device that opened it. Null: they are not known.
      network text,
      device_hash bytea constraint sessions_device check (length(device_hash) = 32),
      user_agent text constraint sessions_user_agent check (length(user_agent) <= 200));
    create unique index sessions_id on sessions (id);
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

    -- A check of the key that seals custody wallets (docs/decisions/0059).
    create table wallet_key_checks (
      key_version int primary key,
      -- A known text that the key has wrapped. Another key does not unwrap it.
      wrapped bytea not null,
      created_at timestamptz(3) not null default clock_timestamp(),
      -- Null: wallets may be sealed with this version.
      retired_at timestamptz(3));

    -- A process that still has only the old key would seal wallets that nobody can open once the key is thrown away. The row
    -- is locked: retiring it waits for the wallets that are being stored, and then counts them.
    create function wallets_check_key() returns trigger language plpgsql as $$
      declare
        retired timestamptz;
      begin
        select retired_at into retired from wallet_key_checks where key_version = new.key_version for share;
        if retired is not null then
          raise exception 'version % of the wallet key is out of use: set the newer key in WALLET_KEK', new.key_version
            using errcode = 'check_violation';
        end if;
        return new;
      end $$;
    create trigger wallets_key_in_use before update of key_version, sealed_secret on wallets
      for each row when (new.key_version is not null) execute function wallets_check_key();

    -- One row per person or wallet. A creator's custody wallet and user id are one party. Both are filled in, never changed.
    create table parties (
      id bigint generated always as identity primary key,
      wallet text unique,
      user_id uuid unique references users,
      seen_at timestamptz not null default clock_timestamp(),
      check (wallet is not null or user_id is not null));

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

    create table payout_wallets (
      user_id uuid primary key references users,
      wallet text not null unique check (length(wallet) between 32 and 44),
      proven_at timestamptz(3) not null default clock_timestamp(),
      -- New tips go to it instead of the custody wallet.
      takes_tips boolean not null default false);

    -- What somebody was given to present it once: src/accounts/secrets has the rules of each purpose.
    create table one_time_secrets (
      -- Of an account's secrets of one purpose and subject that replace each other, the largest is the newest.
      id bigint generated always as identity primary key,
      purpose text not null check (purpose in ('sign_in_code', 'sign_in_link', 'password_reset', 'email_change', 'email_undo',
        'not_me', 'passkey_add', 'passkey_login', 'passkey_confirm', 'payout_wallet', 'sol_domain', 'step_up', 'withdrawal',
        'sdk_handoff', 'pay_link')),
      -- Null: signing in with a passkey, without naming an account.
      user_id uuid references users,
      -- SHA-256 of a random token or of a message to be signed, or HMAC of a code, keyed with a secret that is not in the database.
      hash bytea not null check (length(hash) = 32),
      -- What it is for: the hash of a request, a withdrawal, a wallet, a domain, an SDK session.
      subject text,
      -- The new address of a change of e-mail or the old one of its undo, a message to be signed, a tip's amount (USD) and token.
      content text,
      -- The token of an SDK session, sealed under the handoff's code, so that this table alone grants no access.
      sealed bytea,
      created_at timestamptz(3) not null default clock_timestamp(),
      expires_at timestamptz(3) not null,
      -- Wrong codes entered while it was the newest.
      failures smallint not null default 0 check (failures between 0 and 5),
      -- Used, or void.
      used_at timestamptz(3),
      constraint one_time_secrets_owner check ((user_id is null) = (purpose = 'passkey_login')),
      constraint one_time_secrets_subject check (
        (subject is not null) = (purpose in ('payout_wallet', 'sol_domain', 'step_up', 'withdrawal', 'sdk_handoff', 'pay_link'))),
      constraint one_time_secrets_content check (
        (content is not null) = (purpose in ('email_change', 'email_undo', 'payout_wallet', 'sol_domain', 'pay_link'))),
      constraint one_time_secrets_sealed check ((sealed is not null) = (purpose = 'sdk_handoff')));
    create index one_time_secrets_hash on one_time_secrets (hash);
    create index one_time_secrets_user on one_time_secrets (user_id, purpose, id);
    create index one_time_secrets_expired on one_time_secrets (expires_at);

    -- Attempts at codes that sign in and at codes of the authenticator app. The row's lock serialises an account's attempts.
    create table code_attempts (
      user_id uuid not null references users,
      kind text not null check (kind in ('sign_in_code', 'totp')),
      -- Failed attempts of the last 15 minutes, oldest first. The fifth sets locked_until.
      failed_at timestamptz[] not null default '{}' check (cardinality(failed_at) <= 5),
      locked_until timestamptz,
      primary key (user_id, kind));
  `)
}
