import type { Knex } from 'knex'

/**
 * Creators' own wallets (docs/decisions/0065): the payout wallet that a creator has proven, the codes that confirm what money
 * follows, the tips that were paid to such a wallet, and take-outs to it.
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

    -- Take-outs: what moves from a custody wallet to the creator's payout wallet.
    create table wallet_transfers (
      id uuid primary key default gen_random_uuid(),
      user_id uuid not null references users,
      -- prepared: holds nothing; signed: complete, the creator's browser submits it; final, failed: landed; expired: never landed.
      state text not null default 'prepared' check (state in ('prepared', 'signed', 'final', 'expired', 'failed')),
      mint text not null,
      amount numeric(20, 0) not null check (amount > 0),
      -- The creator's own wallet: it pays the fee, signs first, and receives.
      payout_wallet text not null,
      -- A unique key in the payment. It finds the transaction even if the wallet has signed it a second time.
      reference_key text not null unique,
      -- As prepared; once signed, as the wallet has altered it.
      message bytea not null,
      last_valid_height bigint not null,
      -- What the wallet signed and handed in last, how many times it did, and why that was not signed.
      handed_in bytea check (length(handed_in) <= 1232),
      hand_ins int not null default 0,
      refusal_code text,
      refusal text check (length(refusal) <= 300),
      -- Complete, and its id. Committed with the hold.
      transaction bytea,
      signature text unique,
      failure text check (length(failure) <= 300),
      created_at timestamptz(3) not null default clock_timestamp(),
      signed_at timestamptz(3),
      ended_at timestamptz(3),
      -- Nobody can say by the chain alone whether it landed: a person decides.
      undecided_at timestamptz(3),
      due_at timestamptz default clock_timestamp() + interval '15 s',
      attempts int not null default 0,
      last_error text,
      constraint wallet_transfers_complete check ((transaction is null) = (signed_at is null)
        and (transaction is null) = (signature is null)),
      constraint wallet_transfers_state check (case state when 'prepared' then signed_at is null and ended_at is null
        when 'signed' then signed_at is not null and ended_at is null
        when 'expired' then ended_at is not null
        else signed_at is not null and ended_at is not null end));
    create index wallet_transfers_due on wallet_transfers (due_at) where due_at is not null;
    create index wallet_transfers_list on wallet_transfers (user_id, created_at desc, id desc);
    -- One signed take-out of a creator and token at a time.
    create unique index wallet_transfers_signed on wallet_transfers (user_id, mint) where state = 'signed';

    create function wallet_transfers_check_step() returns trigger language plpgsql as $$
    begin
      if (old.state, new.state) not in (('prepared', 'signed'), ('prepared', 'expired'),
        ('signed', 'final'), ('signed', 'failed'), ('signed', 'expired'))
      then raise exception 'a take-out does not move from % to %', old.state, new.state using errcode = '23514'; end if;
      return new;
    end $$;
    create trigger wallet_transfers_steps before update of state on wallet_transfers
      for each row when (old.state <> new.state) execute function wallet_transfers_check_step();
    create function wallet_transfers_check_fixed() returns trigger language plpgsql as $$
    begin
      if (old.id, old.user_id, old.mint, old.amount, old.payout_wallet, old.reference_key, old.last_valid_height, old.created_at)
        is distinct from (new.id, new.user_id, new.mint, new.amount, new.payout_wallet, new.reference_key,
          new.last_valid_height, new.created_at)
        or (old.transaction is not null and (old.transaction, old.message) is distinct from (new.transaction, new.message))
      then raise exception 'a take-out does not change' using errcode = '23514'; end if;
      return new;
    end $$;
    create trigger wallet_transfers_fixed before update of id, user_id, mint, amount, payout_wallet, reference_key,
      last_valid_height, created_at, transaction, message on wallet_transfers
      for each row execute function wallet_transfers_check_fixed();
    create trigger wallet_transfers_kept before delete or truncate on wallet_transfers
      for each statement execute function refuse_change();
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
    drop table wallet_transfers;
    drop function wallet_transfers_check_fixed();
    drop function wallet_transfers_check_step();
    alter table tips drop paid_wallet;
    alter table payment_intents drop creator_wallet;
    drop table step_up_codes, payout_wallet_challenges, payout_wallets;
  `)
}
