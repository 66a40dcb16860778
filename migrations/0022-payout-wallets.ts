import type { Knex } from 'knex'

/**
 * Creators' own wallets (docs/decisions/0065): the payout wallet that a creator has proven, the codes that confirm what money
 * follows, and the tips that were paid to such a wallet.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
    create table payout_wallets (
      user_id uuid primary key references users,
      wallet text not null unique check (length(wallet) between 32 and 44),
      proven_at timestamptz(3) not null default clock_timestamp(),
      -- New tips go to it instead of the custody wallet.
      takes_tips boolean not null default false);

    -- The message that a creator was asked to sign with a wallet: one per creator.
    create table payout_wallet_challenges (
      user_id uuid primary key references users,
      wallet text not null,
      message text not null,
      expires_at timestamptz not null);

    -- Codes mailed to confirm one request. Each works once, for exactly that request.
    create table step_up_codes (
      id bigint generated always as identity primary key,
      user_id uuid not null references users,
      -- SHA-256 of the request that the code confirms.
      request_hash bytea not null check (length(request_hash) = 32),
      code_hmac bytea not null check (length(code_hmac) = 32),
      created_at timestamptz not null default clock_timestamp(),
      expires_at timestamptz not null,
      failures smallint not null default 0,
      used_at timestamptz);
    create index step_up_codes_user on step_up_codes (user_id, created_at);

    -- Of a tip to a payout wallet: the creator's custody wallet, which is the recipient's party.
    alter table payment_intents add creator_wallet text;
    -- The wallet that was paid, where it is not the wallet of the recipient's party.
    alter table tips add paid_wallet text;
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
    alter table tips drop paid_wallet;
    alter table payment_intents drop creator_wallet;
    drop table step_up_codes, payout_wallet_challenges, payout_wallets;
  `)
}
