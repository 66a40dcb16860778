import type { Knex } from 'knex'

/** What the tables of several features use: requests with an Idempotency-Key, and the trigger that refuses a change. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
    -- Requests and their answers. Kept for a day.
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

    create function refuse_change() returns trigger language plpgsql as $$
    begin
      raise exception '% may not be changed so', tg_table_name using errcode = '23514';
    end $$;
  `)
}
