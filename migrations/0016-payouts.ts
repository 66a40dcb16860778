import type { Knex } from 'knex'

/**
 * Withdrawals to bank accounts (docs/decisions/0019). `status` is what the creator sees; `send_state` is what is known
 * about the sending. Amounts are whole kobo and micro-USDC.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
    alter table users add column identity_verified_at timestamptz(3);

    create table withdrawals (
      id uuid primary key default gen_random_uuid(),
      user_id uuid not null references users,
      reference text not null unique check (reference ~ '^FIATPAY-[0-9A-F]{32}$'),
      -- Our reference at the provider, which accepts no capitals.
      provider_reference text not null unique generated always as (lower(reference)) stored,
      status text not null default 'pending' check (status in ('pending', 'submitted', 'processing', 'completed', 'failed')),
      -- identity_hold: waits for the identity check; not_sent: surely not sent; sending: a request may be on its way;
      -- unknown: a request may have arrived; resend: will be sent again under the same reference; sent: accepted;
      -- manual_review: an operator must decide; refused: surely not executed, and will not be sent.
      send_state text not null default 'not_sent' check (send_state in
        ('identity_hold', 'not_sent', 'sending', 'unknown', 'resend', 'sent', 'manual_review', 'refused')),
      currency text not null check (currency in ('USDC', 'NGN')),
      rate_id bigint not null references rates,
      debit_micro bigint not null check (debit_micro > 0),
      gross_kobo bigint not null,
      fee_kobo bigint not null check (fee_kobo >= 0),
      net_kobo bigint not null check (net_kobo = gross_kobo - fee_kobo and net_kobo > 0),
      bank_code text not null check (bank_code ~ '^[0-9]{3}$'),
      account_number text not null check (account_number ~ '^[0-9]{10}$'),
      account_name text not null check (length(account_name) between 2 and 100),
      -- The account holder's name at the bank, for operators. The provider compares names, we do not.
      resolved_name text,
      recipient_code text,
      hold_transfer bigint not null unique references ledger_transfers,
      resolution_transfer bigint unique references ledger_transfers,
      -- SHA-256 of the Idempotency-Key with its scope, and of the request. Finds the withdrawal when the answer was lost.
      key_hash bytea unique check (length(key_hash) = 32),
      request_hash bytea check (length(request_hash) = 32),
      provider_id text unique,
      failure_reason text check (length(failure_reason) <= 200),
      created_at timestamptz(3) not null default clock_timestamp(),
      submitted_at timestamptz(3),
      processing_at timestamptz(3),
      completed_at timestamptz(3),
      failed_at timestamptz(3),
      -- Requests that may have reached the provider, and when the last one began.
      sends int not null default 0 check (sends >= 0),
      sent_at timestamptz(3),
      -- Queries to the provider since then. The pauses between them grow with this number.
      looks int not null default 0,
      -- The work: due_at is the schedule and the lease (taking the row moves it forward); null = nothing to do.
      due_at timestamptz default clock_timestamp(),
      attempts int not null default 0,
      last_error text,
      check ((key_hash is null) = (request_hash is null)),
      check ((status in ('completed', 'failed')) = (resolution_transfer is not null)),
      check (case when status = 'pending' then send_state not in ('sent', 'refused')
                  else send_state in ('sent', 'refused') end),
      check (send_state <> 'refused' or status = 'failed'),
      check (send_state <> 'identity_hold' or due_at is null),
      check ((sends = 0) = (sent_at is null)),
      check (case when send_state in ('identity_hold', 'not_sent') then sends = 0
                  when send_state = 'refused' then true else sends > 0 end));
    create index withdrawals_due on withdrawals (due_at) where due_at is not null;
    create index withdrawals_history on withdrawals (user_id, created_at desc, id desc);
    create index withdrawals_attention on withdrawals (send_state, created_at) where status = 'pending';
    create index withdrawals_created on withdrawals (created_at);

    create function withdrawals_check_move() returns trigger language plpgsql as $$
    begin
      if (old.status, new.status) not in (
        ('pending', 'submitted'), ('pending', 'failed'), ('submitted', 'processing'), ('submitted', 'failed'),
        ('processing', 'completed'), ('processing', 'failed'))
      then raise exception 'a withdrawal does not move from % to %', old.status, new.status using errcode = '23514'; end if;
      return new;
    end $$;
    create trigger withdrawals_moves before update of status on withdrawals
      for each row when (old.status <> new.status) execute function withdrawals_check_move();
    create trigger withdrawals_fixed before update of id, user_id, reference, currency, rate_id, debit_micro, gross_kobo,
      fee_kobo, net_kobo, bank_code, account_number, account_name, hold_transfer, created_at on withdrawals
      for each statement execute function refuse_change();
    create trigger withdrawals_kept before delete or truncate on withdrawals
      for each statement execute function refuse_change();

    -- Cases that only a person can decide. Open while resolved_at is null; at most one open case per kind and withdrawal.
    create table review_items (
      id bigint generated always as identity primary key,
      withdrawal_id uuid not null references withdrawals,
      kind text not null check (kind in ('unknown', 'mismatch', 'reversed', 'paid_after_failed')),
      details jsonb not null default '{}',
      created_at timestamptz(3) not null default clock_timestamp(),
      resolved_at timestamptz(3),
      resolution text,
      check ((resolved_at is null) = (resolution is null)));
    create unique index review_items_open on review_items (withdrawal_id, kind) where resolved_at is null;
    create index review_items_withdrawal on review_items (withdrawal_id);
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
    drop table review_items, withdrawals;
    drop function withdrawals_check_move();
    alter table users drop column identity_verified_at`)
}
