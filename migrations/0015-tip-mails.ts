import type { Knex } from 'knex'

/** Mails about tips, for creators who chose them (docs/decisions/0058), and the list of frozen accounts. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
    -- A row for each creator who wants mails about tips; users.tip_mails says the same for reading.
    create table tip_mails (
      party_id bigint primary key references parties,
      choice text not null check (choice in ('each', 'daily')),
      -- Tips confirmed later are still to be mailed.
      told_until timestamptz(3) not null,
      -- The last mail. Null: none yet.
      mailed_at timestamptz(3));
    create index users_frozen on users (frozen_at) where frozen_at is not null;
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
    drop index users_frozen;
    drop table tip_mails;
    update users set tip_mails = 'off';
  `)
}
