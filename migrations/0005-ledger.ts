import type { Knex } from 'knex'

/**
 * Double entry. A transfer is a set of entries that sums to zero in each currency and goes in by one statement.
 * Users' balances are cached beside their entries; platform balances are derived, since one row that every posting
 * updates would put all postings in a queue.
 *
 * The statement triggers compare at the end of each statement: a balance moves only in the statement that writes
 * its entries. They plan by indexes whatever the size of the tables, because a plan is kept as long as its connection.
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
      -- The reserve that this one posts or voids: unique, so it is resolved once, one way.
      resolves bigint unique references ledger_transfers,
      created_at timestamptz(3) not null default clock_timestamp(),
      check ((resolves is not null) = (kind in ('post', 'void'))),
      check ((resolves is not null) = (idem like '%:resolve')));

    create table ledger_entries (
      transfer_id bigint not null references ledger_transfers,
      account_id bigint not null references ledger_accounts,
      amount bigint not null check (amount <> 0),
      -- Of user accounts only. Ids grow along each account, because its row is locked when they are drawn.
      balance_after bigint check (balance_after >= 0),
      id bigint generated always as identity,
      primary key (transfer_id, account_id));
    create index ledger_entries_statement on ledger_entries (account_id, id desc);

    create function refuse_change() returns trigger language plpgsql as $$
    begin
      raise exception '% may not be changed so', tg_table_name using errcode = '23514';
    end $$;
    create trigger ledger_entries_fixed before update or delete or truncate on ledger_entries
      for each statement execute function refuse_change();
    create trigger ledger_transfers_fixed before update or delete or truncate on ledger_transfers
      for each statement execute function refuse_change();
    create trigger ledger_accounts_fixed before update of id, user_id, kind, currency or delete or truncate on ledger_accounts
      for each statement execute function refuse_change();

    create function ledger_check_entries() returns trigger language plpgsql
      set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
    begin
      if exists (
        select from fresh f join ledger_accounts a on a.id = f.account_id
         group by f.transfer_id, a.currency having sum(f.amount) <> 0)
      then raise exception 'a transfer does not sum to zero' using errcode = '23514'; end if;

      if exists (
        select from fresh f join ledger_accounts a on a.id = f.account_id
         where case when a.user_id is null then f.balance_after is not null
               else f.balance_after is distinct from f.amount + coalesce((
                      select p.balance_after from ledger_entries p
                       where p.account_id = f.account_id and p.id < f.id order by p.id desc limit 1), 0)
                 or f.balance_after is distinct from coalesce((
                      select n.balance_after - n.amount from ledger_entries n
                       where n.account_id = f.account_id and n.id > f.id order by n.id limit 1), a.balance) end)
      then raise exception 'entries and balance do not move together' using errcode = '23514'; end if;

      if exists (
        select from fresh f join ledger_transfers t on t.id = f.transfer_id join ledger_transfers r on r.id = t.resolves
         where r.kind <> 'reserve' or t.idem <> r.idem || ':resolve'
            or exists (
              select from ledger_entries e join ledger_accounts a on a.id = e.account_id
               where e.transfer_id in (t.id, r.id) and (t.kind = 'void' or a.kind in ('pending', 'held'))
               group by e.account_id having sum(e.amount) <> 0))
      then raise exception 'a resolution does not take back what was reserved' using errcode = '23514'; end if;
      return null;
    end $$;
    create trigger ledger_entries_checked after insert on ledger_entries
      referencing new table as fresh for each statement execute function ledger_check_entries();

    create function ledger_check_balances() returns trigger language plpgsql
      set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
    begin
      if exists (
        select from fresh f where f.user_id is not null and f.balance <> coalesce((
          select e.balance_after from ledger_entries e where e.account_id = f.id order by e.id desc limit 1), 0))
      then raise exception 'a balance moved without entries' using errcode = '23514'; end if;
      return null;
    end $$;
    create trigger ledger_accounts_opened after insert on ledger_accounts
      referencing new table as fresh for each statement execute function ledger_check_balances();
    create trigger ledger_accounts_checked after update on ledger_accounts
      referencing new table as fresh for each statement execute function ledger_check_balances();
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
    drop table ledger_entries, ledger_transfers, ledger_accounts;
    drop function ledger_check_entries(), ledger_check_balances(), refuse_change()`)
}
