import type { Knex } from 'knex'

/** One-time codes with what keeps them from being guessed, and the e-mails that wait to be sent. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
    -- One row per account, made by its first code or its first guess: its lock puts all guesses of the account in order.
    create table otp_codes (
      user_id uuid primary key references users,
      -- The newest code, keyed with a secret the database does not hold; null until there is one.
      code_hmac bytea check (length(code_hmac) = 32),
      expires_at timestamptz,
      used_at timestamptz,
      -- Failed attempts of the last 15 minutes, oldest first; the fifth sets the lock.
      failed_at timestamptz[] not null default '{}' check (cardinality(failed_at) <= 5),
      locked_until timestamptz,
      changed_at timestamptz not null default clock_timestamp(),
      check ((code_hmac is null) = (expires_at is null)));
    create index otp_codes_changed on otp_codes (changed_at);

    create table emails (
      -- Also the Message-ID, so that a mail sent twice is recognised as one by those who look.
      id uuid primary key default gen_random_uuid(),
      kind text not null,
      recipient text not null,
      subject text not null,
      -- The content may be secret, so it is here only until the mail is sent or given up.
      body_text text,
      body_html text,
      -- After this the mail is worth nothing and is dropped unsent; null: it always is worth something.
      expires_at timestamptz,
      created_at timestamptz not null default clock_timestamp(),
      sent_at timestamptz,
      -- The work: due_at is both schedule and lease (a claim pushes it forward); null = sent or given up.
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
