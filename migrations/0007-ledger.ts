import type { Knex } from 'knex'

/**
 * Double entry (docs/decisions/0023). A transfer is a set of entries that sums to zero in each currency and is inserted
 * by one statement. Balances of users are cached. Balances of the platform are derived from entries, because a row that
 * every posting updates would serialise all postings.
 *
 * A trigger changes the cached balance when an entry is inserted, and any other update is refused. So a balance always
 * matches its entries. The triggers use nested loops (`offset 0`), since a cached plan must not depend on how small the
 * tables were when it was made.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
    create table ledger_accounts (
      id bigint generated always as identity primary key,
      user_id uuid references users,
      kind text not null,
      currency text not null check (currency in ('USDC', 'NGN')),
      balance bigint check (balance >= 0),
      unique nulls not distinct (user_id, kind, currency),
      check ((user_id is null) = (balance is null)),
      constraint ledger_accounts_platform check (user_id is not null or
        kind in ('chain_clearing', 'provider_clearing', 'platform_fee', 'fx', 'suspense')),
      constraint ledger_accounts_user check (user_id is null or kind in ('available', 'pending', 'held')))
      with (fillfactor = 70);
    insert into ledger_accounts (kind, currency)
      select kind, currency
        from unnest(array['chain_clearing', 'provider_clearing', 'platform_fee', 'fx', 'suspense']) as kind,
             unnest(array['USDC', 'NGN']) as currency;

    create table ledger_transfers (
      id bigint generated always as identity primary key,
      idem text not null unique check (length(idem) between 1 and 200),
      kind text not null check (kind in ('credit', 'reserve', 'post', 'void')),
      ref text not null check (length(ref) between 1 and 200),
      -- The reserve that this transfer posts or voids. Unique, so a reserve is resolved only once.
      resolves bigint unique references ledger_transfers,
      created_at timestamptz(3) not null default clock_timestamp(),
      check ((resolves is not null) = (kind in ('post', 'void'))),
      check ((resolves is not null) = (idem like '%:resolve')));

    create sequence ledger_entry_ids;
    create table ledger_entries (
      transfer_id bigint not null references ledger_transfers,
      -- No foreign key: its check would lock the row of a platform account. Accounts are never deleted, and
      -- ledger_check_sums refuses an entry without an account.
      account_id bigint not null,
      amount bigint not null check (amount <> 0),
      -- User accounts only. The trigger sets it, and a new id, so that ids grow along each account.
      balance_after bigint,
      id bigint not null default nextval('ledger_entry_ids'),
      primary key (transfer_id, account_id));
    create index ledger_entries_statement on ledger_entries (account_id, id desc);

    create trigger ledger_entries_fixed before update or delete or truncate on ledger_entries
      for each statement execute function refuse_change();
    create trigger ledger_transfers_fixed before update or delete or truncate on ledger_transfers
      for each statement execute function refuse_change();
    create trigger ledger_accounts_fixed before update of id, user_id, kind, currency or delete or truncate on ledger_accounts
      for each statement execute function refuse_change();
    create trigger ledger_balances_fixed before update of balance on ledger_accounts
      for each statement when (pg_trigger_depth() = 0) execute function refuse_change();
    create trigger ledger_accounts_open_empty before insert on ledger_accounts
      for each row when (new.balance <> 0) execute function refuse_change();

    create function ledger_move_balance() returns trigger language plpgsql as $$
    begin
      update ledger_accounts set balance = balance + new.amount
       where id = new.account_id and user_id is not null returning balance into new.balance_after;
      -- A new id now that the account's row is locked.
      new.id := nextval('ledger_entry_ids');
      return new;
    end $$;
    create trigger ledger_entries_move before insert on ledger_entries
      for each row when (new.balance_after is not null) execute function ledger_move_balance();

    create function ledger_check_sums() returns trigger language plpgsql as $$
    begin
      if exists (
        select from fresh f left join lateral (
          select currency, user_id is not null as cached from ledger_accounts where id = f.account_id offset 0) a on true
         group by f.transfer_id, a.currency
        having sum(f.amount) <> 0 or a.currency is null or bool_or(a.cached <> (f.balance_after is not null)))
      then raise exception 'a transfer does not sum to zero, or an entry has no account or moved no balance' using errcode = '23514'; end if;
      return null;
    end $$;
    create trigger ledger_entries_balanced after insert on ledger_entries
      referencing new table as fresh for each statement execute function ledger_check_sums();

    create function ledger_check_resolution() returns trigger language plpgsql as $$
    begin
      if not exists (
        select from ledger_transfers r where r.id = new.resolves and r.kind = 'reserve' and new.idem = r.idem || ':resolve')
      then raise exception 'only a reserve is resolved' using errcode = '23514'; end if;
      if exists (
        select from unnest(array[new.id, new.resolves]) as t(id)
         cross join lateral (select * from ledger_entries where transfer_id = t.id offset 0) e
         cross join lateral (select kind from ledger_accounts where id = e.account_id offset 0) a
         where new.kind = 'void' or a.kind in ('pending', 'held')
         group by e.account_id having sum(e.amount) <> 0)
      then raise exception 'a resolution does not take back what was reserved' using errcode = '23514'; end if;
      return null;
    end $$;
    create trigger ledger_transfers_resolve after insert on ledger_transfers
      for each row when (new.resolves is not null) execute function ledger_check_resolution();
  `)
}
