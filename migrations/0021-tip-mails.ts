import type { Knex } from 'knex'

/** Mails about tips come to every creator who has not turned them off, by default at most one in a quarter of an hour. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
    alter table users alter column tip_mails set default 'each';
    -- Stands in each of these mails and turns them off. It can do nothing else.
    alter table tip_mails add column stop_token uuid not null unique default gen_random_uuid();
    -- The header List-Unsubscribe (RFC 8058). It has a token, so it is deleted with the body.
    alter table emails add column unsubscribe_url text;
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
    alter table emails drop column unsubscribe_url;
    alter table tip_mails drop column stop_token;
    alter table users alter column tip_mails set default 'off';
  `)
}
