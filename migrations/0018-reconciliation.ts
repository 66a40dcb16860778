import type { Knex } from 'knex'

/** Differences between the provider's list of transfers and our withdrawals, found once a day. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
    create table reconciliation_differences (
      id bigint generated always as identity primary key,
      provider_reference text not null,
      kind text not null check (kind in ('not_ours', 'not_theirs', 'sent_twice', 'amount', 'status')),
      ours text,
      theirs text,
      found_at timestamptz(3) not null default clock_timestamp(),
      last_seen_at timestamptz(3) not null default clock_timestamp(),
      unique (provider_reference, kind));
    create index reconciliation_differences_seen on reconciliation_differences (last_seen_at);
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop table reconciliation_differences')
}
