import type { Knex } from 'knex'

/** The message of a payment intent, and which messages of tips are final (docs/decisions/0044). */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
    alter table payment_intents add column message varchar(500);
    -- The message is the intent's, or of a claim that named the intent. No claim replaces it.
    alter table tips add column message_by_intent boolean not null default false;
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
    alter table tips drop column message_by_intent;
    alter table payment_intents drop column message;
  `)
}
