import type { Knex } from 'knex'

const sealedColumns = [
  ['payers', 'email_sealed'],
  ['emails', 'sealed_recipient'],
  ['totp_factors', 'sealed_secret'],
  ['data_exports', 'sealed_file'],
  ['withdrawals', 'sealed_account'],
  ['withdrawals', 'sealed_resolved_name'],
  ['payees', 'sealed_name'],
] as const

/** An account's data as a file for its owner, and the keys that seal personal data (docs/decisions/0059). */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
    -- An account's data as a file for its owner. One row per account, its newest request.
    create table data_exports (
      -- The account.
      id uuid primary key references users,
      requested_at timestamptz(3) not null default clock_timestamp(),
      ready_at timestamptz(3),
      -- SHA-256 of the mailed link's token.
      token_hash bytea unique check (length(token_hash) = 32),
      -- The file, compressed and sealed. Null: not made yet, or deleted because its link has expired.
      sealed_file bytea,
      expires_at timestamptz(3),
      -- The work: due_at is the schedule and the lease (taking the row moves it forward); null = made or given up.
      due_at timestamptz default clock_timestamp(),
      attempts int not null default 0,
      last_error text,
      constraint data_exports_ready check (num_nonnulls(ready_at, token_hash, expires_at) in (0, 3)),
      constraint data_exports_file check (sealed_file is null or ready_at is not null),
      constraint data_exports_work check (ready_at is null or due_at is null));
    create index data_exports_due on data_exports (due_at) where due_at is not null;
    create index data_exports_file on data_exports (expires_at) where sealed_file is not null;

    create table data_keys (
      -- The first byte of what this key has sealed.
      version int primary key check (version between 1 and 255),
      -- Says which key it is, and nothing about it.
      fingerprint bytea not null unique check (length(fingerprint) = 16),
      -- The keys of keyed hashes, sealed with this key: another one does not open them.
      hash_keys bytea not null,
      created_at timestamptz(3) not null default clock_timestamp(),
      -- Null: data may be sealed with it.
      retired_at timestamptz(3));

    -- A process that still seals with an old key would make data that nobody can open once the key is thrown away.
    create function refuse_retired_data_key(sealed bytea) returns void language plpgsql as $$
      begin
        if exists (select from data_keys where version = get_byte(sealed, 0) and retired_at is not null) then
          raise exception 'version % of the data key is out of use: set the newer key in DATA_KEY', get_byte(sealed, 0)
            using errcode = 'check_violation';
        end if;
      end $$;
  `)
  for (const [table, column] of sealedColumns)
    await knex.raw(/* sql */ `
      create function ${table}_${column}_key() returns trigger language plpgsql as $$
        begin
          -- An update may write what is there already.
          if tg_op = 'INSERT' or new.${column} is distinct from old.${column} then
            perform refuse_retired_data_key(new.${column});
          end if;
          return new;
        end $$;
      create trigger ${table}_${column}_key before insert or update of ${column} on ${table}
        for each row when (new.${column} is not null) execute function ${table}_${column}_key();
    `)
}
