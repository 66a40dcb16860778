import type { Knex } from 'knex'

/**
 * What comes back of collected naira: disputes, what was lost, and what creators owe for it (docs/decisions/0067). Only new
 * tables, and one more step of a suspense item, which the release before never takes.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
    -- What a creator owes, or may come to owe: one row per case. Owned by the ledger.
    create table receivables (
      -- The case, such as dispute:17. Begins the keys of its ledger transfers.
      id text primary key check (length(id) between 1 and 100),
      -- Not named user_id, so that a condition on another table may say user_id.
      creator_id uuid not null references users,
      -- What it is about, for the creator's statement.
      ref text not null check (length(ref) between 1 and 200),
      amount_micro bigint not null check (amount_micro > 0),
      -- Set aside while it is not owed; paid once it is.
      covered_micro bigint not null default 0,
      owed boolean not null default false,
      -- Ledger transfers so far. Each has its number in its key.
      transfers int not null default 0,
      created_at timestamptz(3) not null default clock_timestamp(),
      -- Freed, or given back. Null also for one that is paid.
      closed_at timestamptz(3),
      constraint receivables_covered check (covered_micro between 0 and amount_micro));
    -- What later credits cover. Read at every credit, and nearly always empty.
    create index receivables_short on receivables (creator_id) where covered_micro < amount_micro and closed_at is null;
    create index receivables_creator on receivables (creator_id);

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
    create function disputes_check_move() returns trigger language plpgsql as $$
    begin
      if (old.state, new.state) not in (
        ('open', 'answered'), ('open', 'won'), ('open', 'lost'), ('answered', 'open'), ('answered', 'won'), ('answered', 'lost'),
        ('won', 'lost'), ('lost', 'won'))
      then raise exception 'a dispute does not move from % to %', old.state, new.state using errcode = '23514'; end if;
      return new;
    end $$;
    create trigger disputes_moves before update of state on disputes
      for each row when (old.state <> new.state) execute function disputes_check_move();

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

    create or replace function suspense_items_check_move() returns trigger language plpgsql as $$
    begin
      if (old.state, new.state) not in (
        ('waiting', 'refunding'), ('waiting', 'resolved'), ('refunding', 'waiting'), ('refunding', 'resolved'),
        -- A dispute that took it was won after all.
        ('resolved', 'waiting'))
      then raise exception 'a suspense item does not move from % to %', old.state, new.state using errcode = '23514'; end if;
      return new;
    end $$;
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
    do $do$
    begin
      -- The release before would never free this money.
      if exists (select from receivables where not owed and closed_at is null and covered_micro > 0)
      then raise exception 'disputes hold money of creators: wait until they have ended'; end if;
    end $do$;
    create or replace function suspense_items_check_move() returns trigger language plpgsql as $$
    begin
      if (old.state, new.state) not in (
        ('waiting', 'refunding'), ('waiting', 'resolved'), ('refunding', 'waiting'), ('refunding', 'resolved'))
      then raise exception 'a suspense item does not move from % to %', old.state, new.state using errcode = '23514'; end if;
      return new;
    end $$;
    drop table collection_differences, dispute_polls, payment_returns, disputes, receivables;
    drop function disputes_check_move();
  `)
}
