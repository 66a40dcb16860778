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
        
        kind in ('custody_wallets', 'in_transit', 'treasury', 'float_ngn', 'collections_receivable', 'receivables',
          'suspense', 'provider_fees', 'platform_fee', 'fx', 'equity')),
      constraint ledger_accounts_user check (user_id is null or kind in ('available', 'pending', 'held')))
      with (fillfactor = 70);
    insert into ledger_accounts (kind, currency)
      select kind, currency
        from unnest(array['custody_wallets', 'in_transit', 'treasury', 'float_ngn', 'collections_receivable', 'receivables',
          'suspense', 'provider_fees', 'platform_fee', 'fx', 'equity']) as kind,
             unnest(array['USDC', 'NGN']) as currency;

    create table ledger_transfers (
      id bigint generated always as identity primary key,
      idem text not null unique check (length(idem) between 1 and 200),
      kind text not null check (kind in ('credit', 'reserve', 'post', 'void')),
      ref text not null check (length(ref) between 1 and 200),
      -- The reserve that this transfer posts or voids. Unique, so a reserve is resolved only once.
      resolves bigint references ledger_transfers,
      created_at timestamptz(3) not null default clock_timestamp(),
      check ((resolves is not null) = (kind in ('post', 'void'))),
      check ((resolves is not null) = (idem like '%:resolve')));
    create unique index ledger_transfers_resolves_key on ledger_transfers (resolves) where resolves is not null;

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

    -- What a creator owes, or may come to owe: one row per case. Owned by the ledger.
    create table receivables (
      -- The case, such as dispute:17. Begins the keys of its ledger transfers.
      id text primary key check (length(id) between 1 and 100),
      -- Not named user_id, so that a condition on another table may say user_id.
      creator_id uuid not null references users,
      -- What it is about, for the creator's statement.
      ref text not null check (length(ref) between 1 and 200),
      amount_micro bigint not null check (amount_micro > 0),
      -- Set aside while it is not owed; paid once it is.
      covered_micro bigint not null default 0,
      owed boolean not null default false,
      -- Ledger transfers so far. Each has its number in its key.
      transfers int not null default 0,
      created_at timestamptz(3) not null default clock_timestamp(),
      -- Freed, or given back. Null also for one that is paid.
      closed_at timestamptz(3),
      constraint receivables_covered check (covered_micro between 0 and amount_micro));
    -- What later credits cover. Read at every credit, and nearly always empty.
    create index receivables_short on receivables (creator_id) where covered_micro < amount_micro and closed_at is null;
    create index receivables_creator on receivables (creator_id);

    -- What each creator's custody wallet holds by our books (docs/decisions/0064). A row changes only in the transaction that commits
    -- a signature or its end.
    create table custody (
      user_id uuid not null references users,
      mint text not null,
      -- Base units. Credited from the chain for good; moved to the treasury; moved to the creator's own wallet; in transactions that
      -- are signed and not at their end.
      final numeric(20, 0) not null default 0 check (final >= 0),
      swept numeric(20, 0) not null default 0 check (swept >= 0),
      taken_out numeric(20, 0) not null default 0 check (taken_out >= 0),
      in_flight numeric(20, 0) not null default 0 check (in_flight >= 0),
      -- USDC: the last ledger entry of the creator's available account that final counts.
      counted_entry bigint not null default 0,
      primary key (user_id, mint),
      constraint custody_covered check (swept + taken_out + in_flight <= final)) with (fillfactor = 80);
  `)
}
