import type { Knex } from 'knex'

/** Naira tips: fiat intents, and every payment the provider reported. Amounts are whole kobo, cents, micro-USDC. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
    -- A supporter who gave an e-mail for receipts. Not an account: the e-mail can still register.
    create table payers (
      id bigint generated always as identity primary key,
      email text not null unique check (email = lower(email)),
      created_at timestamptz(3) not null default clock_timestamp());

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
      -- The address given to the provider: the payer's, or a made-up one.
      payer_email text not null,
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
      constraint fiat_intents_check2 check (num_nonnulls(checkout_url, instructions) = 1),
      constraint fiat_intents_check3 check (num_nonnulls(settled_kobo, credited_micro, settle_rate_id) in (0, 3)));
    create index fiat_intents_due on fiat_intents (due_at) where due_at is not null;
    create index fiat_intents_open on fiat_intents (user_id, client_network) where client_network is not null;
    create index fiat_intents_expiry on fiat_intents (expires_at) where client_network is not null;
    create index fiat_intents_unlist on fiat_intents (unlist_at) where unlist_at is not null;
    create index fiat_intents_rate on fiat_intents (rate_id);
    create index fiat_intents_settle_rate on fiat_intents (settle_rate_id) where settle_rate_id is not null;

    -- Every payment the provider reports, including repeated, late and too small ones.
    create table fiat_payments (
      provider_transaction text primary key,
      intent_id text not null references fiat_intents,
      kobo bigint not null check (kobo > 0),
      paid_at timestamptz(3) not null,
      disposition text not null check (disposition in ('credited', 'suspense')),
      created_at timestamptz(3) not null default clock_timestamp());
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
      -- When the last request that may have reached the provider began.
      refund_sent_at timestamptz(3),
      -- The provider's refunds of this payment from before that.
      refunds_before text[] not null default '{}',
      -- What the provider said last about the refund.
      refund_answer text check (length(refund_answer) <= 200),
      check (num_nonnulls(resolved_at, resolution, resolved_by, note) in (0, 4)),
      constraint suspense_items_state check ((state = 'resolved') = (resolved_at is not null)),
      constraint suspense_items_refund
        check (state <> 'refunding' or num_nulls(refund_by, refund_note, refund_sent_at) = 0));
    create index suspense_items_open on suspense_items (created_at) where resolved_at is null;
    create function suspense_items_check_move() returns trigger language plpgsql as $$
    begin
      if (old.state, new.state) not in (
        ('waiting', 'refunding'), ('waiting', 'resolved'), ('refunding', 'waiting'), ('refunding', 'resolved'))
      then raise exception 'a suspense item does not move from % to %', old.state, new.state using errcode = '23514'; end if;
      return new;
    end $$;
    create trigger suspense_items_moves before update of state on suspense_items
      for each row when (old.state <> new.state) execute function suspense_items_check_move();
  `)
}
