import type { Knex } from 'knex'

/** Actions of operators: actor, action, subject. Rows are only added. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
    create table audit_log (
      id bigint generated always as identity primary key,
      at timestamptz(3) not null default clock_timestamp(),
      actor text not null check (length(actor) between 1 and 100),
      action text not null,
      subject text not null,
      details jsonb not null default '{}');
    create index audit_log_subject on audit_log (subject, at);
  `)
}
