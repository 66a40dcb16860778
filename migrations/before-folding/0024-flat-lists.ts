import type { Knex } from 'knex'

/**
 * Indexes that a creator's filtered lists walk, and the sums behind the daily figures (docs/decisions/0043). Sums are in base
 * units, because the price is the reader's. They are kept by the hour, so that any time zone's days can be read from them.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
    create index tips_received_token on tips (recipient_party, mint, recorded_at desc, id desc)
      where listed and status = 'confirmed' and kind = 'chain';
    create index tips_received_fiat on tips (recipient_party, status, recorded_at desc, id desc) where listed and kind = 'fiat';
    create index withdrawals_history_status on withdrawals (user_id, status, created_at desc, id desc);

    -- Many updates of few rows: the free space keeps them on their page, without a new index entry.
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

    -- The new indexes keep tips locked against writes until the commit, so the sums miss none.
    insert into tip_sums (party_id, hour, mint, decimals, count, raw)
      select recipient_party, date_trunc('hour', recorded_at, 'UTC'), mint, min(decimals), count(*), sum(display_raw)
      from tips where status = 'confirmed' group by 1, 2, 3;
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(
    'drop table tip_sums; drop index withdrawals_history_status; drop index tips_received_fiat; drop index tips_received_token',
  )
}
