import type { Knex } from 'knex'

/**
 * Payment intents that use a swap engine. `expected_raw` is in the output token, `fee_raw` in the input token. A
 * transaction that cannot carry a reference key is found by `message_hash`.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
    alter table payment_intents
      -- Percent, never negative.
      add column price_impact_pct double precision not null default 0;
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('alter table payment_intents drop column price_impact_pct')
}
