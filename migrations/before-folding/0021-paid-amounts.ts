import type { Knex } from 'knex'

/** What an intent must bring to be paid, and what a tip's transaction brought to others than the tip's recipient. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
    alter table payment_intents
      -- The least the creator must receive: expected_raw, for a swap less the quoted slippage. Null: not stored then.
      add column least_raw numeric(20, 0) check (least_raw > 0);

    alter table tips
      -- The intent that the transaction carries and pays too little for.
      add column underpaid_intent_id text references payment_intents,
      -- Credits besides the tip's own amount: micro-USDC as decimal text, by wallet.
      add column further_credits jsonb;
    create index tips_underpaid_intent on tips (underpaid_intent_id) where underpaid_intent_id is not null;
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
    alter table tips drop column underpaid_intent_id, drop column further_credits;
    alter table payment_intents drop column least_raw;
  `)
}
