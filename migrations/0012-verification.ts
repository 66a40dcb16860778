import type { Knex } from 'knex'

/**
 * Finality of tips, and the search for unreported payments: the finder checks a payment intent until it was paid or its
 * attempts are used up.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
    alter table tips
      add column finalized_at timestamptz(3),
      -- Since when a confirmed transaction is missing on the chain; null while it is there.
      add column missing_since timestamptz;

    alter table payment_intents
      -- Most payments are reported within this time and need no search.
      add column due_at timestamptz default clock_timestamp() + interval '30 s',
      add column attempts int not null default 0;
    create index payment_intents_due on payment_intents (due_at) where due_at is not null;
    -- Finds the intents whose message a signature may belong to: same supporter, wallet and amount.
    create index payment_intents_like on payment_intents (source_wallet, payout_wallet, input_raw, created_at desc);
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
    drop index payment_intents_like;
    drop index payment_intents_due;
    alter table payment_intents drop column due_at, drop column attempts;
    alter table tips drop column finalized_at, drop column missing_since;
  `)
}
