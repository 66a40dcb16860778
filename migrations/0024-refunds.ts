import type { Knex } from 'knex'

/** Naira tips that their creators give back: one row per refund at the provider (docs/decisions/0068). Only a new table. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
    create table refunds (
      -- Our reference, which the provider shows as the note of the refund.
      id text primary key check (id ~ '^refund_[0-9a-f]{32}$'),
      -- What the creator asked for at once: the id of its first refund. A tip of several payments needs several refunds.
      request_id text not null,
      user_id uuid not null references users,
      intent_id text not null references fiat_intents,
      provider_transaction text not null references fiat_payments,
      -- Of the tip's amount.
      amount_cents bigint not null check (amount_cents >= 0),
      -- What goes back, what the creator is debited, and the fee that the platform gives up.
      kobo bigint not null check (kobo > 0),
      debit_micro bigint not null check (debit_micro > 0),
      fee_micro bigint not null check (fee_micro >= 0),
      state text not null default 'not_sent' check (state in ('not_sent', 'sending', 'sent', 'attention', 'paid', 'failed')),
      -- The provider's id. Null until it has shown the refund.
      provider_id text unique check (length(provider_id) between 1 and 60),
      -- When the last request that may have reached the provider began, and how many there were: more than one only after an operator
      -- had it sent again.
      sent_at timestamptz(3),
      sends int not null default 0 check (sends >= 0),
      failure_reason text check (length(failure_reason) <= 200),
      created_at timestamptz(3) not null default clock_timestamp(),
      ended_at timestamptz(3),
      -- The work: due_at is the schedule and the lease. Null: it has ended.
      due_at timestamptz default clock_timestamp(),
      attempts int not null default 0,
      -- Why it is not done, for the operator.
      last_error text check (length(last_error) <= 200),
      constraint refunds_ended check ((state in ('paid', 'failed')) = (ended_at is not null)),
      constraint refunds_work check ((state in ('paid', 'failed')) = (due_at is null)),
      constraint refunds_sent check (state in ('not_sent', 'failed') or sent_at is not null),
      constraint refunds_failure check ((state = 'failed') = (failure_reason is not null)));
    create index refunds_open on refunds (created_at) where ended_at is null;
    create index refunds_due on refunds (due_at) where due_at is not null;
    create index refunds_transaction on refunds (provider_transaction);
    create index refunds_intent on refunds (intent_id, created_at);
    create index refunds_user on refunds (user_id);
    create function refunds_check_move() returns trigger language plpgsql as $$
    begin
      if (old.state, new.state) not in (
        ('not_sent', 'sending'), ('not_sent', 'failed'), ('sending', 'not_sent'), ('sending', 'sent'), ('sending', 'attention'),
        ('sending', 'paid'), ('sending', 'failed'), ('sent', 'attention'), ('sent', 'paid'), ('sent', 'failed'),
        ('attention', 'sent'), ('attention', 'paid'), ('attention', 'failed'))
      then raise exception 'a refund does not move from % to %', old.state, new.state using errcode = '23514'; end if;
      return new;
    end $$;
    create trigger refunds_moves before update of state on refunds
      for each row when (old.state <> new.state) execute function refunds_check_move();
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
    do $do$
    begin
      -- The release before would neither follow a refund nor free what it holds.
      if exists (select from refunds where ended_at is null)
      then raise exception 'refunds are under way: wait until they have ended'; end if;
    end $do$;
    drop table refunds;
    drop function refunds_check_move();
  `)
}
