import type { Knex } from 'knex'

/**
 * Naira tips: exchange rates, fiat intents, and every payment the provider reported. Amounts are whole kobo, cents,
 * micro-USDC.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
    -- Accepted rates, and rates that jumped and wait for an operator (accepted_at is null).
    create table rates (
      id bigint generated always as identity primary key,
      pair text not null check (pair = 'USD/NGN'),
      value numeric(20, 8) not null check (value > 0),
      source text not null,
      as_of timestamptz(3) not null,
      accepted_at timestamptz(3),
      accepted_by text,
      created_at timestamptz(3) not null default clock_timestamp(),
      check ((accepted_at is null) = (accepted_by is null)));
    create index rates_accepted on rates (pair, accepted_at desc) where accepted_at is not null;
    create index rates_refused on rates (pair, created_at desc) where accepted_at is null;

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
      settled_kobo bigint check (settled_kobo >= charge_kobo),
      credited_micro bigint check (credited_micro > 0),
      settle_rate_id bigint references rates,
      -- The work: due_at is the schedule and the lease (taking the row moves it forward); null = no longer polled.
      due_at timestamptz,
      attempts int not null default 0,
      last_error text,
      asked_at timestamptz not null default 'epoch',
      woken_at timestamptz not null default clock_timestamp(),
      check (num_nonnulls(checkout_url, instructions) = 1),
      check (num_nonnulls(settled_kobo, credited_micro, settle_rate_id) in (0, 3)));
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
      check (num_nonnulls(resolved_at, resolution, resolved_by, note) in (0, 4)));
    create index suspense_items_open on suspense_items (created_at) where resolved_at is null;

    -- Shown in lists of fiat tips, in addition to the amount.
    alter table tips add column fiat_details jsonb;
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(
    'alter table tips drop column fiat_details; drop table suspense_items, fiat_payments, fiat_intents, payers, rates',
  )
}
