import type { Knex } from 'knex'

/** The provider's last list of banks, used for their names while the provider is unavailable. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
    create table banks (
      code text primary key check (code ~ '^[0-9]{3}$'),
      name text not null check (length(name) between 1 and 200),
      seen_at timestamptz(3) not null default clock_timestamp());
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop table banks')
}
