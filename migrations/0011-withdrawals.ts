import type { Knex } from 'knex'

/**
 * Withdrawals to bank accounts (docs/decisions/0019). `status` is what the creator sees; `send_state` is what is known
 * about the sending. Amounts are whole kobo and micro-USDC. The triggers refuse every step that `lifecycle.ts` does not list
 * (docs/decisions/0051).
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
    create table withdrawals (
      id uuid primary key default gen_random_uuid(),
      user_id uuid not null references users,
      reference text not null unique check (reference ~ '^FIATPAY-[0-9A-F]{32}$'),
      -- Our reference at the provider, which accepts no capitals.
      provider_reference text not null generated always as (lower(reference)) stored,
      status text not null default 'pending' check (status in ('pending', 'submitted', 'processing', 'completed', 'failed')),
      -- identity_hold: waits for the identity check; confirmation_hold: waits for its creator's confirmation; not_sent: surely not sent; sending: a request may be on its way;
      -- unknown: a request may have arrived; resend: will be sent again under the same reference; sent: accepted;
      -- manual_review: an operator must decide; refused: surely not executed, and will not be sent.
      send_state text not null default 'not_sent' check (send_state in
        ('identity_hold', 'confirmation_hold', 'not_sent', 'sending', 'unknown', 'resend', 'sent', 'manual_review', 'refused')),
      currency text not null check (currency in ('USDC', 'NGN')),
      rate_id bigint not null references rates,
      debit_micro bigint not null check (debit_micro > 0),
      gross_kobo bigint not null,
      fee_kobo bigint not null check (fee_kobo >= 0),
      net_kobo bigint not null check (net_kobo = gross_kobo - fee_kobo and net_kobo > 0),
      -- The provider's own codes of wallets and microfinance banks are longer than three digits (docs/decisions/0016).
      bank_code text not null check (bank_code ~ '^[0-9]{3,6}$'),
      -- Number and name, sealed and bound to the reference.
      sealed_account bytea not null,
      -- For lists and mails, which show no more.
      account_last_four text not null constraint withdrawals_last_four check (account_last_four ~ '^[0-9]{4}$'),
      -- The account holder's name at the bank, sealed, for operators. The provider compares names, we do not.
      sealed_resolved_name bytea,
      -- Keyed hashes of the bank code with the account number, and of the holder's name at the bank, if it is known.
      account_hash bytea not null constraint withdrawals_account_hash check (length(account_hash) = 32),
      name_hash bytea constraint withdrawals_name_hash check (length(name_hash) = 32),
      recipient_code text,
      hold_transfer bigint not null unique references ledger_transfers,
      resolution_transfer bigint references ledger_transfers,
      -- SHA-256 of the Idempotency-Key with its scope, and of the request. Finds the withdrawal when the answer was lost.
      key_hash bytea check (length(key_hash) = 32),
      request_hash bytea check (length(request_hash) = 32),
      provider_id text,
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
      -- When the creator was credited again (docs/decisions/0019). The provider transfer stays watched after it.
      recredited_at timestamptz(3),
      -- How often an operator had it sent again.
      replays int not null default 0 check (replays >= 0),
      -- What was really paid, as an operator resolved it, and the fee and the debit for that much. Null: as asked for.
      paid_kobo bigint check (paid_kobo > 0),
      paid_fee_kobo bigint check (paid_fee_kobo >= 0),
      paid_debit_micro bigint,
      -- What the bank account was promised, if a lower rate at the release left less. Null: nothing changed.
      promised_kobo bigint,
      -- Why its creator must confirm it. Null: need not.
      confirmation_reason text constraint withdrawals_confirmation_reason
        check (confirmation_reason in ('new_account', 'recent_change', 'new_client')),
      confirmed_at timestamptz(3),
      -- The client network and the device that requested it. Null: not known.
      client_network text,
      device_hash bytea constraint withdrawals_device check (length(device_hash) = 32),
      -- The limit of payouts that it waits for, and since when. Null: none.
      breaker text,
      breaker_since timestamptz(3),
      -- An operator has it sent beyond the limits.
      breaker_released_at timestamptz(3),
      -- What the provider took for the transfer, as booked. Null: not booked.
      provider_fee_kobo bigint constraint withdrawals_provider_fee check (provider_fee_kobo >= 0),
      -- When the provider had it although these rows did not. It is looked up, and never sent.
      adopted_at timestamptz(3),
      -- The HTTP request that made it, and the trace that its caller had begun. Null: none; the request's id is its trace.
      request_id uuid,
      trace_id uuid,
      constraint withdrawals_paid check (
        (paid_kobo is null) = (paid_fee_kobo is null) and (paid_kobo is null) = (paid_debit_micro is null)
        and (paid_kobo is null or paid_kobo + paid_fee_kobo <= gross_kobo)),
      constraint withdrawals_promised check (promised_kobo > net_kobo),
      check ((key_hash is null) = (request_hash is null)),
      check ((status in ('completed', 'failed')) = (resolution_transfer is not null)),
      check (case when status = 'pending' then send_state not in ('sent', 'refused')
                  else send_state in ('sent', 'refused') end),
      check (send_state <> 'refused' or status = 'failed'),
      constraint withdrawals_held check (send_state not in ('identity_hold', 'confirmation_hold') or due_at is null),
      check ((sends = 0) = (sent_at is null)),
      constraint withdrawals_sent check (
        case when send_state in ('identity_hold', 'confirmation_hold', 'not_sent') then sends = 0
             when send_state = 'refused' then true else sends > 0 end),
      -- Nothing leaves that needs a confirmation and has none.
      constraint withdrawals_confirmed check (
        send_state in ('identity_hold', 'confirmation_hold', 'refused')
        or confirmation_reason is null or confirmed_at is not null),
      constraint withdrawals_confirmation check (confirmed_at is null or confirmation_reason is not null),
      constraint withdrawals_breaker check (
        (breaker is null) = (breaker_since is null)
        and breaker in ('creator_day', 'creator_hour', 'platform_day', 'platform_hour')),
      check (recredited_at is null or status = 'completed'),
      check (paid_debit_micro between 0 and debit_micro)) with (fillfactor = 70);
    -- Each change of due_at writes to every index that has the row. So what is null at first has none then, and what follows the order
    -- of the rows is a BRIN index.
    create index withdrawals_due on withdrawals (due_at) where due_at is not null;
    create unique index withdrawals_resolution on withdrawals (resolution_transfer) where resolution_transfer is not null;
    create unique index withdrawals_key on withdrawals (key_hash) where key_hash is not null;
    create unique index withdrawals_provider_id on withdrawals (provider_id) where provider_id is not null;
    create index withdrawals_history on withdrawals (user_id, created_at desc, id desc);
    create index withdrawals_attention on withdrawals (send_state, created_at) where status = 'pending';
    create index withdrawals_created on withdrawals using brin (created_at) with (autosummarize = on);
    create index withdrawals_history_status on withdrawals (user_id, status, created_at desc, id desc);
    create index withdrawals_recredited on withdrawals (recredited_at) where recredited_at is not null;
    -- What deleting old rates looks up.
    create index withdrawals_rate on withdrawals using brin (rate_id) with (autosummarize = on);
    create index withdrawals_account_uses on withdrawals (account_hash, created_at);
    create index withdrawals_name on withdrawals (name_hash, created_at) where name_hash is not null;
    create index withdrawals_sent_at on withdrawals (sent_at) where sent_at is not null;
    create index withdrawals_breaker_waiting on withdrawals (created_at) where breaker is not null and status = 'pending';
    create index withdrawals_request on withdrawals using brin (request_id) with (autosummarize = on);
    create index withdrawals_trace on withdrawals (trace_id) where trace_id is not null;

    create trigger withdrawals_moves before update of status on withdrawals
      for each row when (old.status <> new.status) execute function check_outgoing_status();
    create trigger withdrawals_send_steps before update of send_state on withdrawals
      for each row when (old.send_state <> new.send_state) execute function check_outgoing_send_state();
    create function withdrawals_check_fixed() returns trigger language plpgsql as $$
    begin
      if (old.id, old.user_id, old.reference, old.currency, old.debit_micro, old.bank_code, old.hold_transfer, old.created_at)
        is distinct from (new.id, new.user_id, new.reference, new.currency, new.debit_micro, new.bank_code,
          new.hold_transfer, new.created_at)
      then raise exception 'a withdrawal does not change' using errcode = '23514'; end if;
      -- Its account is only sealed again with a later key.
      if (old.sealed_account, old.account_last_four) is distinct from (new.sealed_account, new.account_last_four)
        and not (get_byte(new.sealed_account, 0) > get_byte(old.sealed_account, 0) and old.account_last_four = new.account_last_four)
      then raise exception 'a withdrawal does not change' using errcode = '23514'; end if;
      if (old.rate_id, old.gross_kobo, old.fee_kobo, old.net_kobo, old.promised_kobo)
        is distinct from (new.rate_id, new.gross_kobo, new.fee_kobo, new.net_kobo, new.promised_kobo)
        -- Only its release prices a held withdrawal again, once, and never above the promise.
        and not (old.status = 'pending' and old.send_state in ('identity_hold', 'confirmation_hold')
          and new.send_state = 'not_sent'
          and new.gross_kobo < old.gross_kobo and new.promised_kobo is not distinct from old.net_kobo)
      then raise exception 'a withdrawal keeps its price' using errcode = '23514'; end if;
      return new;
    end $$;
    create trigger withdrawals_fixed before update of id, user_id, reference, currency, rate_id, debit_micro, gross_kobo,
      fee_kobo, net_kobo, promised_kobo, bank_code, hold_transfer, created_at, sealed_account, account_last_four on withdrawals
      for each row execute function withdrawals_check_fixed();
    create trigger withdrawals_kept before delete or truncate on withdrawals
      for each statement execute function refuse_change();

    -- Cases that only a person can decide. Open while resolved_at is null; at most one open case per kind and withdrawal.
    create table review_items (
      id bigint generated always as identity primary key,
      withdrawal_id uuid not null references withdrawals,
      kind text not null check (kind in
        ('unknown', 'mismatch', 'reversed', 'failed_after_completed', 'paid_after_failed', 'paid_after_recredit',
          -- Of somebody who seems to owe by another account.
          'debt')),
      details jsonb not null default '{}',
      created_at timestamptz(3) not null default clock_timestamp(),
      resolved_at timestamptz(3),
      resolution text,
      -- The provider has shown the opposite since, so the same fact opens a new review.
      outdated_at timestamptz(3),
      check ((resolved_at is null) = (resolution is null)));
    create unique index review_items_open on review_items (withdrawal_id, kind) where resolved_at is null;
    create index review_items_withdrawal on review_items (withdrawal_id);
    -- An outdated review stays outdated. Between the other states every step is listed.
    create trigger review_items_steps before update of outdated_at on review_items
      for each row when (old.outdated_at is not null and new.outdated_at is null) execute function refuse_change();

    -- The provider's last list of banks, used for their names while the provider is unavailable.
    create table banks (
      code text primary key check (code ~ '^[0-9]{3,6}$'),
      name text not null check (length(name) between 1 and 200),
      seen_at timestamptz(3) not null default clock_timestamp());

    -- Differences between the provider's list of transfers and our withdrawals, found once a day.
    create table reconciliation_differences (
      id bigint generated always as identity primary key,
      provider_reference text not null,
      kind text not null check (kind in ('not_ours', 'not_theirs', 'sent_twice', 'amount', 'status')),
      ours text,
      theirs text,
      found_at timestamptz(3) not null default clock_timestamp(),
      last_seen_at timestamptz(3) not null default clock_timestamp(),
      unique (provider_reference, kind));
    create index reconciliation_differences_seen on reconciliation_differences (last_seen_at);

    -- The bank accounts that creators have named (docs/decisions/0057).
    create table payees (
      id uuid primary key default gen_random_uuid(),
      user_id uuid not null references users,
      account_hash bytea not null check (length(account_hash) = 32),
      bank_code text not null check (bank_code ~ '^[0-9]{3,6}$'),
      last_four text not null check (last_four ~ '^[0-9]{4}$'),
      sealed_name bytea not null,
      added_at timestamptz(3) not null default clock_timestamp(),
      last_used_at timestamptz(3) not null default clock_timestamp(),
      -- When its creator last confirmed a withdrawal to it.
      confirmed_at timestamptz(3),
      -- What was confirmed or sent before does not count. Listed again when used after it.
      removed_at timestamptz(3),
      unique (user_id, account_hash));
  `)
}
