import type { Knex } from 'knex'

export const config = { transaction: false }

/**
 * The HTTP request that made a row (docs/decisions/0078). Only empty columns and their indexes. Request ids come in order of
 * time, so the index of tips need not know every tip: it costs recording nothing.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
    alter table tips add column if not exists request_id uuid;
    alter table tip_claims add column if not exists request_id uuid;
    alter table payment_intents add column if not exists request_id uuid;
    alter table withdrawals add column if not exists request_id uuid;
  `)
  await knex.raw('set lock_timeout = 0')
  for (const [table, index] of indexes) {
    await knex.raw(`drop index concurrently if exists ${table}_request`)
    await knex.raw(`create index concurrently ${table}_request on ${table} ${index}`)
  }
  await knex.raw('reset lock_timeout')
}

const indexes = [
  ['tips', 'using brin (request_id uuid_minmax_multi_ops) with (autosummarize = on)'],
  ['tip_claims', '(request_id) where request_id is not null'],
  ['payment_intents', '(request_id) where request_id is not null'],
  ['withdrawals', '(request_id) where request_id is not null'],
] as const

export async function down(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
    alter table tips drop column request_id;
    alter table tip_claims drop column request_id;
    alter table payment_intents drop column request_id;
    alter table withdrawals drop column request_id;
  `)
}
