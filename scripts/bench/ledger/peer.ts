import type { Knex } from 'knex'
import { query } from '../../../src/platform/database/database.js'

export const platformAccounts = 1000
/** Above every account of the ledger. */
export const firstPlatformAccount = 1_000_000_000

/**
 * The peer of the ledger, its simplest implementation: BEGIN, the transfer, SELECT FOR UPDATE, the balances, the entries,
 * COMMIT. It has its own tables with the same rows, keys, indexes and zero-sum trigger as the ledger, but no check of
 * balances against entries.
 */
export const peerSchema = /* sql */ `
  create table peer_accounts (
    id bigint primary key, balance bigint check (balance >= 0)) with (fillfactor = 70);
  create table peer_transfers (
    id bigint generated always as identity primary key, idem text not null unique, kind text not null, ref text not null,
    resolves bigint unique references peer_transfers, created_at timestamptz(3) not null default clock_timestamp());
  create table peer_entries (
    transfer_id bigint not null references peer_transfers, account_id bigint not null references peer_accounts,
    amount bigint not null check (amount <> 0), balance_after bigint, id bigint generated always as identity,
    primary key (transfer_id, account_id));
  create index peer_entries_statement on peer_entries (account_id, id desc);
  create function peer_check() returns trigger language plpgsql as $$
  begin
    if exists (select from fresh group by transfer_id having sum(amount) <> 0)
    then raise exception 'unbalanced' using errcode = '23514'; end if;
    return null;
  end $$;
  create trigger peer_checked after insert on peer_entries
    referencing new table as fresh for each statement execute function peer_check();
  insert into peer_accounts select id, coalesce(balance, 1000000000000000) from ledger_accounts
    union all select ${firstPlatformAccount} + n, 1000000000000000 from generate_series(0, ${platformAccounts - 1}) n;
  analyze peer_accounts;`

interface PeerEntry {
  readonly account: bigint
  readonly amount: bigint
}

/** Posts entries in several prepared statements on the same pool. */
export async function postAsPeer(db: Knex, idem: string, entries: readonly PeerEntry[]): Promise<void> {
  await db.transaction(async (trx) => {
    const [transfer] = await query<{ id: bigint }>(trx, {
      name: 'peer.transfer',
      text: `insert into peer_transfers (idem, kind, ref) values ($1, 'credit', 'bench') on conflict do nothing returning id`,
      values: [idem],
    })
    const after = await moveBalances(trx, entries)
    await query(trx, {
      name: 'peer.entries',
      text: `insert into peer_entries (transfer_id, account_id, amount, balance_after)
             select $1, * from unnest($2::bigint[], $3::bigint[], $4::bigint[])`,
      values: [
        transfer?.id,
        entries.map(({ account }) => account),
        entries.map(({ amount }) => amount),
        entries.map(({ account }) => after.get(account)),
      ],
    })
  })
}

async function moveBalances(trx: Knex, entries: readonly PeerEntry[]): Promise<Map<bigint, bigint>> {
  const rows = await query<{ id: bigint; balance: bigint }>(trx, {
    name: 'peer.lock',
    text: 'select id, balance from peer_accounts where id = any($1::bigint[]) order by id for update',
    values: [entries.map(({ account }) => account)],
  })
  const after = new Map<bigint, bigint>()
  for (const { id, balance } of rows) {
    const amount = entries.find(({ account }) => account === id)?.amount ?? 0n
    if (balance + amount < 0n) throw new Error('insufficient')
    await query(trx, {
      name: 'peer.move',
      text: 'update peer_accounts set balance = balance + $2 where id = $1',
      values: [id, amount],
    })
    after.set(id, balance + amount)
  }
  return after
}
