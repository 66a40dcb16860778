import type { Knex } from 'knex'

/** When a version of the key that seals wallets goes out of use (docs/decisions/0061). */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
    -- Null: wallets may be sealed with this version.
    alter table wallet_key_checks add column retired_at timestamptz(3);

    -- A process that still has only the old key would seal wallets that nobody can open once the key is thrown away. The row
    -- is locked: retiring it waits for the wallets that are being stored, and then counts them.
    create function wallets_check_key() returns trigger language plpgsql as $$
      declare
        retired timestamptz;
      begin
        select retired_at into retired from wallet_key_checks where key_version = new.key_version for share;
        if retired is not null then
          raise exception 'version % of the wallet key is out of use: set the newer key in WALLET_KEK', new.key_version
            using errcode = 'check_violation';
        end if;
        return new;
      end $$;
    create trigger wallets_key_in_use before update of key_version, sealed_secret on wallets
      for each row when (new.key_version is not null) execute function wallets_check_key();
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
    drop trigger wallets_key_in_use on wallets;
    drop function wallets_check_key();
    alter table wallet_key_checks drop column retired_at;
  `)
}
