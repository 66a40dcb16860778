import type { Knex } from 'knex'
import { query } from '../platform/database/database.js'
import { accountKey, type Entry, type LedgerAccount, transferEntries, userAccount } from './accounts.js'
import {
  checkTransfer,
  findReserved,
  openAccounts,
  postAlone,
  type Reserved,
  resolutionKey,
  type Transfer,
} from './post-statement.js'
import { coverReceivables } from './receivables/receivables.js'
import type { NewTransfer } from './transfers.js'

/** `reserve` for many transfers that debit no user's account. One statement posts hundreds of them. */
export async function reserveMany(trx: Knex, reserves: readonly NewTransfer[]): Promise<void> {
  const transfers = reserves.map(({ key, ref, entries }) => ({
    idem: key,
    kind: 'reserve' as const,
    ref,
    entries,
  }))
  await postTransfers(trx, transfers)
}

/**
 * Moves what is pending under these keys to its owners' available balance, where it covers first what they owe. Skips keys under
 * which nothing was reserved. Returns the owners.
 */
export async function releasePending(trx: Knex, keys: readonly string[]): Promise<ReadonlySet<string>> {
  const owners = new Set((await freePending(trx, keys)).map(({ userId }) => userId))
  await coverReceivables(trx, [...owners])
  return owners
}

/** As `releasePending`, for the caller who sets the money aside again: it covers nothing meanwhile. Returns what was pending. */
export async function freePending(trx: Knex, keys: readonly string[]): Promise<Reserved[]> {
  const reserved = await findReserved(trx, keys)
  const transfers = reserved.map(({ idem, ref, userId, currency, amount }) => ({
    idem: resolutionKey(idem),
    kind: 'post' as const,
    ref,
    resolves: idem,
    entries: transferEntries(
      amount,
      userAccount(userId, 'pending', currency),
      userAccount(userId, 'available', currency),
    ),
  }))
  await postTransfers(trx, transfers)
  return reserved
}

/** Transfers of one statement. The statement joins its two lists by a nested loop, which is cheap up to this number. */
const chunkSize = 256

/** Like the statement that posts one transfer. The accounts are locked before it, so the balances are current. */
const postManySql = /* sql */ `
with item as materialized (
  select * from unnest($1::text[], $2::text[], $3::text[], $4::text[]) with ordinality
    as i(idem, kind, ref, resolves, place)
), given as materialized (
  select * from unnest($5::int[], $6::bigint[], $7::bigint[], $8::boolean[]) as g(place, account_id, amount, of_user)
), transfer as (
  insert into ledger_transfers (idem, kind, ref, resolves)
  select idem, kind, ref, (select r.id from ledger_transfers r where r.idem = item.resolves and r.kind = 'reserve')
  from item order by idem
  on conflict (idem) do nothing returning id, idem
), entry as (
  insert into ledger_entries (transfer_id, account_id, amount, balance_after)
  select t.id, g.account_id, g.amount, case when g.of_user then 0 end
  from transfer t join item i on i.idem = t.idem join given g on g.place = i.place
  order by t.id, g.account_id
)
select idem from transfer`

/**
 * Posts transfers that cannot overdraw an account, in the caller's transaction: two statements for 256 of them. The same
 * idem again changes nothing. Throws and aborts the transaction when a user's account would fall below zero after all, and
 * for the mistakes for which `postAlone` throws.
 */
async function postTransfers(trx: Knex, transfers: readonly Transfer[]): Promise<void> {
  for (const transfer of transfers) checkTransfer(transfer)
  const inOrder = transfers.toSorted((a, b) => (a.idem < b.idem ? -1 : 1))
  for (let start = 0; start < inOrder.length; start += chunkSize)
    await postChunk(trx, inOrder.slice(start, start + chunkSize))
}

async function postChunk(trx: Knex, transfers: readonly Transfer[]): Promise<void> {
  const entries = transfers.flatMap((transfer) => transfer.entries)
  const accounts = await lockAccounts(trx, entries)
  const rows = transfers.flatMap((transfer, index) =>
    transfer.entries.map((entry) => ({
      ...entry,
      place: index + 1,
      id: accounts.get(accountKey(entry.account)),
    })),
  )
  const posted = await query<{ idem: string }>(trx, {
    name: 'ledger.post-many',
    text: postManySql,
    values: [
      transfers.map(({ idem }) => idem),
      transfers.map(({ kind }) => kind),
      transfers.map(({ ref }) => ref),
      transfers.map(({ resolves }) => resolves ?? null),
      rows.map(({ place }) => place),
      rows.map(({ id }) => id),
      rows.map(({ amount }) => amount),
      rows.map(({ account }) => account.userId !== null),
    ],
  })
  const done = new Set(posted.map(({ idem }) => idem))
  // The others existed already: `postAlone` compares their content.
  for (const transfer of transfers) if (!done.has(transfer.idem)) await postAlone(trx, transfer)
}

interface AccountRow extends LedgerAccount {
  readonly id: bigint
}

/** The ids of the accounts by `accountKey`. Opens users' accounts that are missing and locks them in the order of their ids. */
async function lockAccounts(trx: Knex, entries: readonly Entry[]): Promise<ReadonlyMap<string, bigint>> {
  const wanted = [...new Map(entries.map((entry) => [accountKey(entry.account), entry])).values()]
  const read = async () => new Map((await readAccounts(trx, wanted)).map((row) => [accountKey(row), row.id]))
  const found = await read()
  const missing = wanted.filter(({ account }) => !found.has(accountKey(account)))
  if (missing.length === 0) return found
  await openAccounts(trx, missing)
  return await read()
}

function readAccounts(trx: Knex, entries: readonly Entry[]): Promise<AccountRow[]> {
  const users = entries.flatMap(({ account }) => account.userId ?? [])
  return query(trx, {
    name: 'ledger.lock',
    text: /* sql */ `
      with own as materialized (
        select id, user_id, kind, currency from ledger_accounts
        where user_id = any($1::uuid[]) and kind = any($2::text[]) order by id for no key update)
      select id, user_id as "userId", kind, currency from own
      union all
      select id, null, kind, currency from ledger_accounts where user_id is null and kind = any($2::text[])`,
    values: [[...new Set(users)], [...new Set(entries.map(({ account }) => account.kind))]],
  })
}
