import type { Knex } from 'knex'

/**
 * What each creator's custody wallet holds by our books (docs/decisions/0064), and the transactions that move USDC from custody
 * wallets to the treasury. A row of `custody` changes only in the transaction that commits a signature or its end. The trigger
 * refuses every step of a sweep that `lifecycle.ts` does not list.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
    create table custody (
      user_id uuid not null references users,
      mint text not null,
      -- Base units. Credited from the chain for good; moved to the treasury; moved to the creator's own wallet; in transactions that
      -- are signed and not at their end.
      final numeric(20, 0) not null default 0 check (final >= 0),
      swept numeric(20, 0) not null default 0 check (swept >= 0),
      taken_out numeric(20, 0) not null default 0 check (taken_out >= 0),
      in_flight numeric(20, 0) not null default 0 check (in_flight >= 0),
      -- USDC: the last ledger entry of the creator's available account that final counts.
      counted_entry bigint not null default 0,
      primary key (user_id, mint),
      constraint custody_covered check (swept + taken_out + in_flight <= final)) with (fillfactor = 80);

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

    create function sweeps_check_step() returns trigger language plpgsql as $$
    begin
      if (old.state, new.state) not in (
        ('planned', 'signed'), ('planned', 'dead'), ('signed', 'sent'), ('signed', 'dead'),
        ('sent', 'final'), ('sent', 'failed'), ('sent', 'dead'))
      then raise exception 'a sweep does not move from % to %', old.state, new.state using errcode = '23514'; end if;
      return new;
    end $$;
    create trigger sweeps_steps before update of state on sweeps
      for each row when (old.state <> new.state) execute function sweeps_check_step();
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
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
    drop table sweep_parts;
    drop table sweeps;
    drop function sweeps_check_fixed();
    drop function sweeps_check_step();
    drop table custody;
  `)
}
