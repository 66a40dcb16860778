import type { Knex } from 'knex'

/**
 * Tips, the claims about them, and the order of their confirmations. A claim is what a caller says, a fact is what the
 * chain or the provider says. Only facts are listed, streamed and credited.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
    create type tip_kind as enum ('chain', 'fiat');
    create type tip_status as enum ('pending', 'confirmed', 'failed', 'cancelled');
    create type tip_outcome as enum ('tx_failed', 'not_found', 'mismatch');

    -- Each statement that writes a row compiles every check again. So types are used where they can, and few checks.
    create table tips (
      id text primary key,                                   -- transaction signature, or the fiatpay_ id
      kind tip_kind not null,
      status tip_status not null default 'pending',
      recorded_at timestamptz(3) not null default clock_timestamp(),
      -- The first claim. Further, differing claims are in tip_claims.
      creator_wallet text,
      sender text not null,
      amount numeric not null,
      token_symbol text not null,
      message varchar(500),
      -- Of a crypto tip: the name that its intent gave. The sender stays the wallet.
      sender_name varchar(100),
      claimed_intent_id text,
      claim_hash bytea,
      found_false_at timestamptz,
      claim_count smallint not null default 1,               -- includes the first; at most 5
      -- The facts. Null until they are verified.
      recipient_party bigint references parties,
      sender_party bigint references parties,
      received_raw numeric(20, 0),
      display_raw numeric(20, 0),
      decimals smallint,
      mint text,
      slot bigint,
      block_time timestamptz,
      intent_id text references payment_intents,
      fee_found boolean,
      confirmed_at timestamptz(3),
      outcome tip_outcome,
      listed boolean not null default true,
      -- The work: due_at is the schedule and the lease (taking the row moves it forward); null = nothing to do.
      due_at timestamptz default clock_timestamp(),
      attempts int not null default 0,
      last_error text,
      -- Finality, and since when a confirmed transaction is missing on the chain; null while it is there.
      finalized_at timestamptz(3),
      missing_since timestamptz,
      -- Shown in lists of fiat tips, in addition to the amount.
      fiat_details jsonb,
      -- The intent that the transaction carries and pays too little for.
      underpaid_intent_id text references payment_intents,
      -- Credits besides the tip's own amount: micro-USDC as decimal text, by wallet.
      further_credits jsonb,
      -- The message is the intent's, or of a claim that named the intent. No claim replaces it (docs/decisions/0006).
      message_by_intent boolean not null default false,
      -- The wallet that was paid, where it is not the wallet of the recipient's party.
      paid_wallet text,
      -- A tip to another creator in the transaction of this one: its id is the signature, a colon and the wallet that was paid.
      main_id text references tips,
      -- The HTTP request that made it, and the trace that its caller, or its intent's, had begun. Null: none; the request's id is its trace.
      request_id uuid,
      trace_id uuid,
      -- The integrator's own name for the payment, and what they keep with it.
      reference text,
      metadata json,
      check (least(amount, received_raw, display_raw) > 0),
      check (case kind when 'chain' then creator_wallet is not null and claim_hash is not null
                       else recipient_party is not null and due_at is null end),
      check (status <> 'confirmed' or (recipient_party is not null and confirmed_at is not null and display_raw is not null)));
    create index tips_due on tips (due_at) where due_at is not null;
    create index tips_received on tips (recipient_party, recorded_at desc, id desc) where listed and (status = 'confirmed' or kind = 'fiat');
    create index tips_sent on tips (sender_party, recorded_at desc, id desc) where listed and (status = 'confirmed' or kind = 'fiat');
    create unique index tips_events on tips (recipient_party, confirmed_at desc) where status = 'confirmed';
    -- Not unique: a supporter can alter and sign a message again, so that two transactions land for one intent.
    create index tips_intent on tips (intent_id) where intent_id is not null;
    create index tips_underpaid_intent on tips (underpaid_intent_id) where underpaid_intent_id is not null;
    -- Finds a tip that was recorded for an intent but is not confirmed yet.
    create index tips_claimed_intent on tips (claimed_intent_id) where claimed_intent_id is not null;
    -- A creator's filtered lists walk these (docs/decisions/0024).
    create index tips_received_token on tips (recipient_party, mint, recorded_at desc, id desc)
      where listed and status = 'confirmed' and kind = 'chain';
    create index tips_received_fiat on tips (recipient_party, status, recorded_at desc, id desc) where listed and kind = 'fiat';
    create index tips_further on tips (main_id) where main_id is not null;
    -- Request ids come in order of time, so the index need not know every tip: it costs recording nothing.
    create index tips_request on tips using brin (request_id uuid_minmax_multi_ops) with (autosummarize = on);
    create index tips_trace on tips (trace_id) where trace_id is not null;

    create table tip_claims (
      id bigint generated always as identity primary key,
      tip_id text not null references tips,
      claim_hash bytea not null,
      creator_wallet text not null,
      sender text not null,
      amount numeric not null check (amount > 0),
      token_symbol text not null,
      message text check (length(message) <= 500),
      claimed_intent_id text,
      found_false_at timestamptz,
      created_at timestamptz not null default clock_timestamp(),
      request_id uuid,
      trace_id uuid,
      unique (tip_id, claim_hash));
    create index tip_claims_request on tip_claims (request_id) where request_id is not null;
    create index tip_claims_trace on tip_claims (trace_id) where trace_id is not null;

    -- The last confirmation of each recipient. Its row lock orders confirmations; streams find changes by its index.
    create table creator_cursors (
      party_id bigint primary key references parties,
      last_at timestamptz(3) not null) with (fillfactor = 50);
    create index creator_cursors_recent on creator_cursors (last_at);

    -- The sums behind the daily figures (docs/decisions/0024), in base units, because the price is the reader's, and by the hour,
    -- so that any time zone's days can be read from them. Many updates of few rows: the free space keeps them on their page, without a new index entry.
    create table tip_sums (
      party_id bigint not null references parties,
      -- The hour in which the tips were recorded.
      hour timestamptz(0) not null,
      -- Null: tips in naira, in cents.
      mint text,
      decimals smallint not null,
      count int not null,
      raw numeric not null,
      unique nulls not distinct (party_id, hour, mint)) with (fillfactor = 70);

    -- Refuses a change of status that the lifecycle does not list, in case the application tries one.
    create function refuse_unlisted_move() returns trigger language plpgsql as $$
    begin
      if not (old.status || '>' || new.status) = any (tg_argv::text[]) then
        raise exception '% may not move from % to %', tg_table_name, old.status, new.status using errcode = '23514';
      end if;
      return new;
    end $$;
    create trigger tips_lifecycle before update of status on tips for each row
      when (old.status is distinct from new.status)
      execute function refuse_unlisted_move('pending>confirmed', 'pending>failed', 'pending>cancelled', 'confirmed>failed', 'failed>confirmed', 'cancelled>confirmed');

    -- A row for each creator who wants mails about tips; users.tip_mails says the same for reading.
    create table tip_mails (
      party_id bigint primary key references parties,
      choice text not null check (choice in ('each', 'daily')),
      -- Tips confirmed later are still to be mailed.
      told_until timestamptz(3) not null,
      -- The last mail. Null: none yet.
      mailed_at timestamptz(3));
  `)
}
