import type { Knex } from 'knex'

/** The keys that seal personal data (docs/decisions/0075). A new table, and checks of columns that stand. */
const sealedColumns = [
  ['payers', 'email_sealed'],
  ['emails', 'sealed_recipient'],
  ['totp_factors', 'sealed_secret'],
  ['data_exports', 'sealed_file'],
  ['withdrawals', 'sealed_account'],
  ['withdrawals', 'sealed_resolved_name'],
  ['payees', 'sealed_name'],
] as const

export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
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
          perform refuse_retired_data_key(new.${column});
          return new;
        end $$;
      create trigger ${table}_${column}_key before insert or update of ${column} on ${table}
        for each row when (new.${column} is not null) execute function ${table}_${column}_key();
    `)
  await knex.raw(fixed(true))
}

/** Refused while data is sealed with a later key than the first: the release before opens only that. */
export async function down(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
    do $do$
    begin
      if exists (select from data_keys where version > 1) then
        raise exception 'DATA_KEY was changed: the release before does not open what the newer key has sealed';
      end if;
    end $do$`)
  await knex.raw(fixed(false))
  for (const [table, column] of sealedColumns)
    await knex.raw(`drop trigger ${table}_${column}_key on ${table}; drop function ${table}_${column}_key()`)
  await knex.raw('drop function refuse_retired_data_key(bytea); drop table data_keys')
}

/** The function of the trigger as 0016 has it. `resealed`: a sealed account may be sealed again with a later key, and only so. */
function fixed(resealed: boolean): string {
  const account = (row: string): string =>
    ['number', 'name'].map((part) => `${row}.account_${part}`).join(', ') +
    `, ${row}.sealed_account, ${row}.account_last_four`
  const later = /* sql */ `
        and not (coalesce(get_byte(new.sealed_account, 0) > get_byte(old.sealed_account, 0), false)
          and (old.account_number, old.account_name, old.account_last_four)
            is not distinct from (new.account_number, new.account_name, new.account_last_four))`
  return /* sql */ `
    create or replace function withdrawals_check_fixed() returns trigger language plpgsql as $$
    begin
      if (old.id, old.user_id, old.reference, old.currency, old.debit_micro, old.bank_code, old.hold_transfer, old.created_at)
        is distinct from (new.id, new.user_id, new.reference, new.currency, new.debit_micro, new.bank_code,
          new.hold_transfer, new.created_at)
      then raise exception 'a withdrawal does not change' using errcode = '23514'; end if;
      if (${account('old')}) is distinct from (${account('new')})
        and not (old.account_number is not null and new.account_number is null and new.sealed_account is not null
          and coalesce(old.sealed_account = new.sealed_account, true)
          and new.account_last_four = right(old.account_number, 4))${resealed ? later : ''}
      then raise exception 'a withdrawal does not change' using errcode = '23514'; end if;
      if (old.rate_id, old.gross_kobo, old.fee_kobo, old.net_kobo, old.promised_kobo)
        is distinct from (new.rate_id, new.gross_kobo, new.fee_kobo, new.net_kobo, new.promised_kobo)
        -- Only its release prices a held withdrawal again, once, and never above the promise.
        and not (old.status = 'pending' and old.send_state in ('identity_hold', 'confirmation_hold')
          and new.send_state = 'not_sent'
          and new.gross_kobo < old.gross_kobo and new.promised_kobo is not distinct from old.net_kobo)
      then raise exception 'a withdrawal keeps its price' using errcode = '23514'; end if;
      return new;
    end $$`
}
