import type { Knex } from 'knex'

/** Requests with an Idempotency-Key, and their answers. Kept for a day. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
    create table idempotency_keys (
      -- SHA-256 of scope and key.
      key_hash bytea primary key check (length(key_hash) = 32),
      request_hash bytea not null check (length(request_hash) = 32),
      -- The request that works on it or has answered it. Only that request may store the answer.
      holder uuid not null,
      -- Until then a request without an answer counts as running. So a crashed request does not block the key for ever.
      lease_until timestamptz(3) not null,
      response json,
      created_at timestamptz(3) not null default clock_timestamp());
    create index idempotency_keys_age on idempotency_keys (created_at);
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop table idempotency_keys')
}
