import type { Knex } from 'knex'

/**
 * Naira tips: fiat intents, every payment the provider reported, and what comes back of them: disputes (docs/decisions/0067) and refunds.
 * Amounts are whole kobo, cents, micro-USDC.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
    -- The steps of money that leaves by the naira provider: refunds and withdrawals (src/outgoing/lifecycle.ts).
    create function check_outgoing_status() returns trigger language plpgsql as $$
    begin
      if (old.status, new.status) not in (
        ('pending', 'submitted'), ('pending', 'failed'), ('submitted', 'processing'), ('submitted', 'failed'),
        ('processing', 'completed'), ('processing', 'failed'))
        -- One update may take both steps: the time of the one between is set.
        and not (old.status = 'submitted' and new.status = 'completed' and new.processing_at is not null)
      then raise exception 'the status of % does not move from % to %', tg_table_name, old.status, new.status
        using errcode = '23514'; end if;
      return new;
    end $$;
    create function check_outgoing_send_state() returns trigger language plpgsql as $$
    begin
      if (old.send_state, new.send_state) not in (
        ('identity_hold', 'confirmation_hold'), ('identity_hold', 'not_sent'), ('identity_hold', 'refused'),
        ('confirmation_hold', 'not_sent'), ('confirmation_hold', 'refused'),
        ('not_sent', 'sending'), ('not_sent', 'refused'),
        ('sending', 'not_sent'), ('sending', 'unknown'), ('sending', 'resend'), ('sending', 'sent'),
        ('sending', 'manual_review'), ('sending', 'refused'),
        ('unknown', 'not_sent'), ('unknown', 'resend'), ('unknown', 'sent'), ('unknown', 'manual_review'),
        ('unknown', 'refused'),
        ('resend', 'sending'), ('resend', 'unknown'), ('resend', 'sent'), ('resend', 'manual_review'),
        ('resend', 'refused'),
        ('manual_review', 'resend'), ('manual_review', 'sent'), ('manual_review', 'refused'))
      then raise exception 'the send state of % does not move from % to %', tg_table_name, old.send_state, new.send_state
        using errcode = '23514'; end if;
      return new;
    end $$;

    -- A supporter who gave an e-mail for receipts. Not an account: the e-mail can still register.
    create table payers (
      id bigint generated always as identity primary key,
      -- A keyed hash, to find a payer again. Not unique: two first tips at the same time make two rows.
      email_hash bytea constraint payers_email_hash check (length(email_hash) = 32),
      -- Both null: erased when it was old enough, or on request.
      email_sealed bytea,
      last_tip_at timestamptz(3) not null default clock_timestamp(),
      created_at timestamptz(3) not null default clock_timestamp());
    create index payers_email on payers (email_hash) where email_hash is not null;
    create index payers_old on payers (last_tip_at) where email_sealed is not null;

    -- Has no status of its own: its tip's status is its status.
    create table fiat_intents (
      id text primary key references tips check (id like 'fiatpay\\_%'),
      user_id uuid not null references users,
      rate_id bigint not null references rates,
      amount_cents bigint not null,
      fee_cents bigint not null check (fee_cents >= 0),
      final_cents bigint not null check (final_cents = amount_cents - fee_cents and final_cents > 0),
      basis text not null check (basis in ('net', 'gross')),
      charge_kobo bigint not null check (charge_kobo > 0),
      payer_id bigint references payers,
      provider_reference text not null unique,
      checkout_url text,
      instructions jsonb,
      metadata jsonb not null default '{}',
      created_at timestamptz(3) not null default clock_timestamp(),
      expires_at timestamptz(3) not null,
      -- The payer's network, for the limit of open intents. Set to null when the intent is no longer open.
      client_network text,
      -- When a cancelled intent without a payment leaves the lists.
      unlist_at timestamptz,
      -- What counted of the payments: less than the charge when one was a little short, more when money in suspense was
      -- assigned.
      settled_kobo bigint constraint fiat_intents_settled check (settled_kobo > 0),
      credited_micro bigint check (credited_micro > 0),
      settle_rate_id bigint references rates,
      -- The work: due_at is the schedule and the lease (taking the row moves it forward); null = no longer polled.
      due_at timestamptz,
      attempts int not null default 0,
      last_error text,
      asked_at timestamptz not null default 'epoch',
      woken_at timestamptz not null default clock_timestamp(),
      -- The caller gave the charge (amountNgn), so what exceeds the promise is the creator's too.
      charge_given boolean not null default false,
      -- Of the checkout in which the payer paid. Null: nobody has said.
      language text check (language in ('en', 'pcm', 'fr')),
      -- Made with this session's token.
      sdk_session_id uuid references sdk_sessions on delete set null,
      constraint fiat_intents_check2 check (num_nonnulls(checkout_url, instructions) = 1),
      constraint fiat_intents_check3 check (num_nonnulls(settled_kobo, credited_micro, settle_rate_id) in (0, 3)));
    create index fiat_intents_due on fiat_intents (due_at) where due_at is not null;
    create index fiat_intents_open on fiat_intents (user_id, client_network) where client_network is not null;
    create index fiat_intents_expiry on fiat_intents (expires_at) where client_network is not null;
    create index fiat_intents_unlist on fiat_intents (unlist_at) where unlist_at is not null;
    create index fiat_intents_session on fiat_intents (sdk_session_id) where sdk_session_id is not null;
    create index fiat_intents_rate on fiat_intents (rate_id);
    create index fiat_intents_settle_rate on fiat_intents (settle_rate_id) where settle_rate_id is not null;

    -- Every payment the provider reports, including repeated, late and too small ones.
    create table fiat_payments (
      provider_transaction text primary key,
      intent_id text not null references fiat_intents,
      kobo bigint not null check (kobo > 0),
      paid_at timestamptz(3) not null,
      disposition text not null check (disposition in ('credited', 'suspense')),
      created_at timestamptz(3) not null default clock_timestamp(),
      -- When what it credits may be withdrawn. Null: at once.
      available_at timestamptz(3));
    create index fiat_payments_intent on fiat_payments (intent_id);

    -- Money that cannot be credited: an operator returns it or assigns it to the creator.
    create table suspense_items (
      provider_transaction text primary key references fiat_payments,
      kobo bigint not null check (kobo > 0),
      reason text not null check (reason in ('underpaid', 'overpaid', 'paid_again')),
      created_at timestamptz(3) not null default clock_timestamp(),
      resolved_at timestamptz(3),
      resolution text check (resolution in ('returned', 'assigned')),
      resolved_by text,
      note text,
      -- refunding: the provider is asked to return it to the payer, and nobody may assign it meanwhile.
      state text not null default 'waiting' check (state in ('waiting', 'refunding', 'resolved')),
      refund_by text,
      refund_note text,
      -- Its newest refund (table refunds).
      refund_id text,
      -- Why that one failed.
      refund_answer text check (length(refund_answer) <= 200),
      -- How often it was assigned: after that a dispute that took a part of it may be won.
      assignments int not null default 0 check (assignments >= 0),
      check (num_nonnulls(resolved_at, resolution, resolved_by, note) in (0, 4)),
      constraint suspense_items_state check ((state = 'resolved') = (resolved_at is not null)),
      constraint suspense_items_refund
        check (state <> 'refunding' or num_nulls(refund_by, refund_note, refund_id) = 0));
    create index suspense_items_open on suspense_items (created_at) where resolved_at is null;
    -- resolved > waiting: a dispute that took it was won after all.
    create trigger suspense_items_moves before update of state on suspense_items
      for each row when (old.state <> new.state) execute function check_step(
        'waiting > refunding', 'waiting > resolved', 'refunding > waiting', 'refunding > resolved',
        'resolved > waiting');

    -- Credits of card payments that are pending: the work of making them available.
    create table card_reserves (
      -- The key of the ledger transfer that reserved it.
      id text primary key,
      transfer_id bigint not null unique references ledger_transfers,
      available_at timestamptz(3) not null,
      -- The work: due_at is the schedule and the lease (taking the row moves it forward); null = available, or given back.
      due_at timestamptz,
      attempts int not null default 0);
    create index card_reserves_due on card_reserves (due_at) where due_at is not null;

    -- One row per dispute of the provider.
    create table disputes (
      -- The provider's id.
      id text primary key check (length(id) between 1 and 60),
      -- In the order in which we heard of them.
      number bigint generated always as identity,
      -- The provider's ids of the payment and the charge. We may not know them.
      provider_transaction text not null check (length(provider_transaction) between 1 and 100),
      reference text not null check (length(reference) between 1 and 200),
      -- Null: no charge of ours.
      intent_id text references fiat_intents,
      kobo bigint not null check (kobo > 0),
      state text not null default 'open' check (state in ('open', 'answered', 'won', 'lost')),
      category text check (length(category) <= 50),
      -- Lost because nobody answered.
      auto_accepted boolean not null default false,
      opened_at timestamptz(3) not null,
      answer_by timestamptz(3) not null,
      ended_at timestamptz(3),
      created_at timestamptz(3) not null default clock_timestamp(),
      -- Which case of the books it is at. The next one begins when a case is freed or given back.
      case_number int not null default 1 check (case_number > 0),
      -- The books show its state. False: they wait, as for a refund that is under way.
      settled boolean not null default false,
      -- A webhook says that there is news of it.
      recheck boolean not null default false,
      -- The last alarm before answer_by.
      reminded_at timestamptz(3),
      -- Our answer. answer_sent_at: when its last request that may have arrived began; null: none was sent, or it was refused.
      answer text check (answer in ('accept', 'decline')),
      answer_message text check (length(answer_message) <= 2000),
      answered_by text,
      answer_sent_at timestamptz(3),
      answer_result text check (length(answer_result) <= 200),
      constraint disputes_answer check (answer_sent_at is null or num_nulls(answer, answer_message, answered_by) = 0));
    create index disputes_transaction on disputes (provider_transaction);
    create index disputes_reference on disputes (reference);
    create index disputes_intent on disputes (intent_id);
    create index disputes_watched on disputes (opened_at) where state in ('open', 'answered') or recheck or not settled;
    create trigger disputes_moves before update of state on disputes
      for each row when (old.state <> new.state) execute function check_step(
        'open > answered', 'open > won', 'open > lost', 'answered > open', 'answered > won', 'answered > lost',
        'won > lost', 'lost > won');

    -- Payments that went back to their payer without our doing: one row per case.
    create table payment_returns (
      -- The case, as in receivables.
      id text primary key check (length(id) between 1 and 100),
      provider_transaction text not null references fiat_payments,
      kind text not null check (kind in ('dispute', 'refund', 'reversal')),
      -- What went back of the part in suspense, and of the part that was credited.
      suspense_kobo bigint not null check (suspense_kobo >= 0),
      credited_kobo bigint not null check (credited_kobo >= 0),
      -- What the creator loses, and the fee that the platform gives up.
      debit_micro bigint not null check (debit_micro >= 0),
      fee_micro bigint not null check (fee_micro >= 0),
      created_at timestamptz(3) not null default clock_timestamp(),
      -- The provider gave the money back after all.
      restored_at timestamptz(3),
      constraint payment_returns_kobo check (suspense_kobo + credited_kobo > 0));
    create index payment_returns_transaction on payment_returns (provider_transaction);

    -- When the provider is asked next what came back. One row.
    create table dispute_polls (
      id text primary key,
      due_at timestamptz,
      attempts int not null default 0,
      asked_at timestamptz not null default 'epoch',
      woken_at timestamptz not null default 'epoch',
      -- Up to when the disputes were listed. At first a month back: those that are still open are found.
      listed_at timestamptz not null default clock_timestamp() - interval '30 days',
      last_error text);
    insert into dispute_polls (id, due_at) values ('fiatpay', clock_timestamp());

    -- How the provider's lists of payments, refunds and disputes differ from ours.
    create table collection_differences (
      -- Such as payment 17.
      subject text not null check (length(subject) between 1 and 200),
      kind text not null,
      ours text,
      theirs text,
      found_at timestamptz(3) not null default clock_timestamp(),
      last_seen_at timestamptz(3) not null default clock_timestamp(),
      primary key (subject, kind));

    -- Tips that their creators give back: one row per refund at the provider (docs/decisions/0067).
    create table refunds (
      -- Our reference, which the provider shows as the note of the refund.
      id text primary key,
      -- tip: its creator gives back what it credited; suspense: an operator gives back what nobody was credited.
      source text not null check (source in ('tip', 'suspense')),
      -- What the creator asked for at once: the id of its first refund. A tip of several payments needs several refunds.
      request_id text not null,
      -- The creator who is debited.
      user_id uuid references users,
      intent_id text not null references fiat_intents,
      provider_transaction text not null references fiat_payments,
      -- Of the tip's amount.
      amount_cents bigint not null check (amount_cents >= 0),
      -- What goes back, what the creator is debited, and the fee that the platform gives up.
      kobo bigint not null check (kobo > 0),
      debit_micro bigint not null,
      fee_micro bigint not null check (fee_micro >= 0),
      -- As of withdrawals (src/outgoing/lifecycle.ts).
      status text not null default 'pending' check (status in ('pending', 'submitted', 'processing', 'completed', 'failed')),
      send_state text not null default 'not_sent'
        check (send_state in ('not_sent', 'sending', 'unknown', 'resend', 'sent', 'manual_review', 'refused')),
      -- The provider's id. Null until it has shown the refund.
      provider_id text unique check (length(provider_id) between 1 and 60),
      resolution_transfer bigint unique references ledger_transfers,
      -- Requests that may have reached the provider, and when the last one began.
      sends int not null default 0 check (sends >= 0),
      sent_at timestamptz(3),
      -- Questions to the provider since then. The pauses between them grow with this number.
      looks int not null default 0,
      replays int not null default 0 check (replays >= 0),
      failure_reason text check (length(failure_reason) <= 200),
      created_at timestamptz(3) not null default clock_timestamp(),
      submitted_at timestamptz(3),
      processing_at timestamptz(3),
      completed_at timestamptz(3),
      failed_at timestamptz(3),
      ended_at timestamptz(3) generated always as (coalesce(completed_at, failed_at)) stored,
      -- When the provider had it although these rows did not. It is looked up, and never sent.
      adopted_at timestamptz(3),
      -- The work: due_at is the schedule and the lease. Null: it has ended.
      due_at timestamptz default clock_timestamp(),
      attempts int not null default 0,
      -- Why it is not done, for the operator.
      last_error text check (length(last_error) <= 200),
      constraint refunds_source check (id ~ ('^' || case source when 'tip' then 'refund' else source end || '_[0-9a-f]{32}$')
        and (source = 'tip') = (user_id is not null) and (source = 'tip') = (debit_micro > 0) and debit_micro >= 0),
      check ((status in ('completed', 'failed')) = (ended_at is not null)),
      check ((status = 'failed') = (failure_reason is not null)),
      -- What failed of suspense moves no money.
      check (case when status = 'failed' and source = 'suspense' then resolution_transfer is null
                  else (status in ('completed', 'failed')) = (resolution_transfer is not null) end),
      check (case when status = 'pending' then send_state not in ('sent', 'refused')
                  else send_state in ('sent', 'refused') end),
      check (send_state <> 'refused' or status = 'failed'),
      check ((sends = 0) = (sent_at is null)),
      check (case when send_state = 'not_sent' then sends = 0 when send_state in ('sent', 'refused') then true else sends > 0 end));
    create index refunds_open on refunds (created_at) where ended_at is null;
    create index refunds_due on refunds (due_at) where due_at is not null;
    create index refunds_transaction on refunds (provider_transaction);
    create index refunds_intent on refunds (intent_id, created_at);
    create index refunds_user on refunds (user_id);
    alter table suspense_items add foreign key (refund_id) references refunds;
    create trigger refunds_status before update of status on refunds
      for each row when (old.status <> new.status) execute function check_outgoing_status();
    create trigger refunds_send_state before update of send_state on refunds
      for each row when (old.send_state <> new.send_state) execute function check_outgoing_send_state();
  `)
}
