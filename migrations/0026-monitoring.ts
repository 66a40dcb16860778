import type { Knex } from 'knex'

/** More switches (docs/decisions/0073). */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
    alter table switches
      drop constraint switches_name_check,
      add constraint switches_name_check check (name ~ '^[a-z_-]{1,40}$');
    insert into switches (name) values ('intents'), ('naira-intents'), ('registrations'), ('swaps'), ('maintenance');
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
    delete from switches where name <> 'payouts';
    alter table switches
      drop constraint switches_name_check,
      add constraint switches_name_check check (name ~ '^[a-z_]{1,40}$');
  `)
}
