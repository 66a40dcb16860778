import type { Knex } from 'knex'

/**
 * Sweeps, which move USDC from custody wallets to the treasury (docs/decisions/0064), and take-outs, which move what a custody wallet holds to
 * the creator's own wallet (docs/decisions/0064). The triggers refuse every step that the lifecycles do not list.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
    create table sweeps (
      id uuid primary key default gen_random_uuid(),
      -- planned: named by the command; signed: the custodian has signed and the book has it in flight; sent: complete, and may be on its
      -- way; final, failed: landed; dead: never landed and never will.
      state text not null default 'planned' check (state in ('planned', 'signed', 'sent', 'final', 'failed', 'dead')),
      -- Pays the network fee. Its signature is the transaction's id.
      payer text not null,
      mint text not null,
      treasury text not null,
      -- The message that is signed, and the signatures of the custody wallets by address, base58. They never change.
      message bytea,
      signatures jsonb,
      last_valid_height bigint,
      -- The payer's signature, committed before the transaction is sent for the first time.
      signature text unique,
      failure text check (length(failure) <= 300),
      planned_by text not null,
      created_at timestamptz(3) not null default clock_timestamp(),
      signed_at timestamptz(3),
      sent_at timestamptz(3),
      ended_at timestamptz(3),
      -- The only endpoint knows nothing of it although it can no longer land: a person decides.
      expired_at timestamptz(3),
      due_at timestamptz default clock_timestamp(),
      attempts int not null default 0,
      last_error text,
      constraint sweeps_signed check ((message is null) = (signed_at is null) and (message is null) = (signatures is null)
        and (message is null) = (last_valid_height is null)),
      constraint sweeps_sent check ((signature is null) = (sent_at is null)),
      constraint sweeps_state check (case state when 'planned' then signed_at is null and ended_at is null
        when 'signed' then signed_at is not null and sent_at is null and ended_at is null
        when 'sent' then signed_at is not null and sent_at is not null and ended_at is null
        when 'dead' then ended_at is not null
        else sent_at is not null and ended_at is not null end));
    create index sweeps_due on sweeps (due_at) where due_at is not null;
    create index sweeps_open on sweeps (created_at) where ended_at is null;
    create index sweeps_created on sweeps (created_at);

    create table sweep_parts (
      sweep_id uuid not null references sweeps,
      user_id uuid not null references users,
      amount numeric(20, 0) not null check (amount > 0),
      primary key (sweep_id, user_id));
    create index sweep_parts_user on sweep_parts (user_id);

    create trigger sweeps_steps before update of state on sweeps
      for each row when (old.state <> new.state) execute function check_step(
        'planned > signed', 'planned > dead', 'signed > sent', 'signed > dead', 'sent > final', 'sent > failed',
        'sent > dead');
    create function sweeps_check_fixed() returns trigger language plpgsql as $$
    begin
      if (old.id, old.payer, old.mint, old.treasury, old.created_at) is distinct from
         (new.id, new.payer, new.mint, new.treasury, new.created_at)
        or (old.message is not null and (old.message, old.signatures, old.last_valid_height)
          is distinct from (new.message, new.signatures, new.last_valid_height))
        or (old.signature is not null and old.signature is distinct from new.signature)
      then raise exception 'a sweep does not change' using errcode = '23514'; end if;
      return new;
    end $$;
    create trigger sweeps_fixed before update of id, payer, mint, treasury, created_at, message, signatures, last_valid_height,
      signature on sweeps for each row execute function sweeps_check_fixed();
    create trigger sweeps_kept before delete or truncate on sweeps for each statement execute function refuse_change();
    create trigger sweep_parts_fixed before update or delete or truncate on sweep_parts
      for each statement execute function refuse_change();

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

    create trigger wallet_transfers_steps before update of state on wallet_transfers
      for each row when (old.state <> new.state) execute function check_step(
        'prepared > signed', 'prepared > expired', 'signed > final', 'signed > failed', 'signed > expired');
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
