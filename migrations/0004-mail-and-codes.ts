import type { Knex } from 'knex'

/** One-time codes with their limits against guessing, and outgoing e-mails. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
    -- One row per account, inserted with its first code or its first attempt. Its lock serialises the account's attempts.
    create table otp_codes (
      user_id uuid primary key references users,
      -- HMAC of the newest code, keyed with a secret that is not in the database; null until there is a code.
      code_hmac bytea check (length(code_hmac) = 32),
      expires_at timestamptz,
      used_at timestamptz,
      -- Failed attempts of the last 15 minutes, oldest first. The fifth sets locked_until.
      failed_at timestamptz[] not null default '{}' check (cardinality(failed_at) <= 5),
      locked_until timestamptz,
      changed_at timestamptz not null default clock_timestamp(),
      check ((code_hmac is null) = (expires_at is null)));
    create index otp_codes_changed on otp_codes (changed_at);

    create table emails (
      -- Also the Message-ID, so that mail clients can recognise an e-mail that was sent twice.
      id uuid primary key default gen_random_uuid(),
      kind text not null,
      recipient text not null,
      subject text not null,
      -- May be secret, so it is deleted when the e-mail is sent or given up.
      body_text text,
      body_html text,
      -- An e-mail that is not sent by then is dropped; null = never.
      expires_at timestamptz,
      created_at timestamptz not null default clock_timestamp(),
      sent_at timestamptz,
      -- The work: due_at is the schedule and the lease (taking the row moves it forward); null = sent or given up.
      due_at timestamptz default clock_timestamp(),
      attempts int not null default 0,
      last_error text,
      check ((due_at is null) = (body_text is null)),
      check ((due_at is null) = (body_html is null)),
      check (due_at is null or sent_at is null));
    create index emails_due on emails (due_at) where due_at is not null;
    create index emails_recipient on emails (recipient, created_at);
    create index emails_created on emails (created_at) where due_at is null;
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop table emails, otp_codes')
}
