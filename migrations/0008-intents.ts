import type { Knex } from 'knex'

/**
 * Crypto payment intents. Raw token amounts are numeric(20,0): an SPL amount is a u64. `expected_raw` is in the output token,
 * `fee_raw` in the input token. A transaction that cannot carry a reference key is found by `message_hash`. The finder checks
 * an intent until it was paid or its attempts are used up.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
    create table payment_intents (
      id text primary key check (id like 'pi\\_%'),
      recipient_party bigint not null references parties,
      payout_wallet text not null,
      source_wallet text not null,
      input_mint text not null,
      input_raw numeric(20, 0) not null check (input_raw > 0),
      output_mint text not null,
      expected_raw numeric(20, 0) not null check (expected_raw > 0),
      fee_raw numeric(20, 0) not null check (fee_raw >= 0),
      amount_usd_cents bigint not null check (amount_usd_cents >= 0),
      token_symbol text not null,
      provider text not null check (provider in ('direct-transfer', 'aggregator-ultra', 'aggregator-v6')),
      execution_mode text not null check (execution_mode in ('sync', 'async')),
      reference_key text unique,
      message_hash bytea unique check (length(message_hash) = 32),
      transaction bytea not null,
      last_valid_block_height bigint not null,
      created_at timestamptz(3) not null default clock_timestamp(),
      sdk_session_id uuid references sdk_sessions on delete set null,
      -- The work of the finder. Most payments are reported within this time and need no search; null = nothing to do.
      due_at timestamptz default clock_timestamp() + interval '30 s',
      attempts int not null default 0,
      -- Percent, never negative.
      price_impact_pct double precision not null default 0,
      -- The least the creator must receive: expected_raw, for a swap less the quoted slippage.
      least_raw numeric(20, 0) not null check (least_raw > 0),
      message varchar(500),
      -- The name that the supporter gave.
      sender_name varchar(100),
      -- Of a tip to a payout wallet: the creator's custody wallet, which is the recipient's party.
      creator_wallet text,
      -- The HTTP request that made it, and the trace that its caller had begun. Null: none; the request's id is its trace.
      request_id uuid,
      trace_id uuid,
      -- The integrator's own name for the payment, and what they keep with it.
      reference text,
      metadata json,
      check (reference_key is not null or message_hash is not null));
    create index payment_intents_session on payment_intents (sdk_session_id) where sdk_session_id is not null;
    create index payment_intents_due on payment_intents (due_at) where due_at is not null;
    -- Finds the intents whose message a signature may belong to: same supporter, wallet and amount.
    create index payment_intents_like on payment_intents (source_wallet, payout_wallet, input_raw, created_at desc);
    create index payment_intents_request on payment_intents (request_id) where request_id is not null;
    create index payment_intents_trace on payment_intents (trace_id) where trace_id is not null;
  `)
}
