import type { Knex } from 'knex'

/** `withdrawal_codes` gets the columns of `step_up_codes`, so that one function works on both (docs/decisions/0069). */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('alter table withdrawal_codes add used_at timestamptz')
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('alter table withdrawal_codes drop used_at')
}
