import type { Knex } from 'knex'

/** Outgoing e-mails. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
    create table emails (
      -- Also the Message-ID, so that mail clients can recognise an e-mail that was sent twice.
      id uuid primary key default gen_random_uuid(),
      kind text not null,
      recipient text,
      -- Of somebody without an account. Then recipient is null.
      sealed_recipient bytea,
      subject text not null,
      -- The language and the blocks of which the mailer renders text and HTML (src/mail/layout.ts). json and not jsonb:
      -- it is stored as it comes. May be secret, so it is deleted when the e-mail is sent or given up.
      body json,
      -- An e-mail that is not sent by then is dropped; null = never.
      expires_at timestamptz,
      created_at timestamptz not null default clock_timestamp(),
      sent_at timestamptz,
      -- The work: due_at is the schedule and the lease (taking the row moves it forward); null = sent or given up.
      due_at timestamptz default clock_timestamp(),
      attempts int not null default 0,
      last_error text,
      check ((due_at is null) = (body is null)),
      check (due_at is null or sent_at is null),
      constraint emails_address check ((recipient is null) <> (sealed_recipient is null)));
    create index emails_due on emails (due_at) where due_at is not null;
    create index emails_recipient on emails (recipient, created_at);
    create index emails_created on emails (created_at) where due_at is null;
  `)
}
