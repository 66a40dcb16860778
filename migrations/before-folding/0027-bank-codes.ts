import type { Knex } from 'knex'

/** The provider's own codes of wallets and microfinance banks have four to six digits (docs/decisions/0048). */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
    alter table banks drop constraint banks_code_check,
      add constraint banks_code_check check (code ~ '^[0-9]{3,6}$');
    alter table withdrawals drop constraint withdrawals_bank_code_check,
      add constraint withdrawals_bank_code_check check (bank_code ~ '^[0-9]{3,6}$');
  `)
}

/** Withdrawals to longer codes stay: only new rows are checked. */
export async function down(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
    delete from banks where length(code) > 3;
    alter table banks drop constraint banks_code_check, add constraint banks_code_check check (code ~ '^[0-9]{3}$');
    alter table withdrawals drop constraint withdrawals_bank_code_check,
      add constraint withdrawals_bank_code_check check (bank_code ~ '^[0-9]{3}$') not valid;
  `)
}
