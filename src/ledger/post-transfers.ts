import type { Knex } from 'knex'
import { query } from '../platform/database/database.js'
import { accountKey, type Entry, type LedgerAccount } from './accounts.js'
import { openAccounts, postTransfer } from './post-transfer.js'
import { checkTransfer, type Transfer } from './transfer.js'

/** Transfers of one statement. Its two lists meet in a nested loop, which is cheap up to here. */
const chunk = 256

/** As the single posting, for many. The accounts are locked before: a balance is then the one of this moment. */
const postManySql = /* sql */ `
with item as materialized (
  select * from unnest($1::text[], $2::text[], $3::text[], $4::bigint[]) with ordinality
    as i(idem, kind, ref, resolves, place)
), entry as materialized (
  select * from unnest($5::int[], $6::bigint[], $7::bigint[], $8::boolean[]) as l(place, account_id, amount, of_user)
), transfer as (
  insert into ledger_transfers (idem, kind, ref, resolves)
  select idem, kind, ref, resolves from item order by idem
  on conflict (idem) do nothing returning id, idem
), entry as (
  insert into ledger_entries (transfer_id, account_id, amount, balance_after)
  select t.id, l.account_id, l.amount, case when l.of_user then 0 end
  from transfer t join item i on i.idem = t.idem join entry l on l.place = i.place
  order by t.id, l.account_id
)
select idem from transfer`

/**
 * Posts transfers that cannot overdraw anybody, inside the caller's transaction: three statements for 256 of them
 * instead of one each. The same idem again changes nothing. Throws, and with it the transaction ends, where a user's
 * account would fall below zero all the same, and what `postTransfer` throws for mistakes of ours.
 */
export async function postTransfers(trx: Knex, transfers: readonly Transfer[]): Promise<void> {
  for (const transfer of transfers) checkTransfer(transfer)
  const inOrder = transfers.toSorted((a, b) => (a.idem < b.idem ? -1 : 1))
  for (let start = 0; start < inOrder.length; start += chunk)
    await postChunk(trx, inOrder.slice(start, start + chunk))
}

async function postChunk(trx: Knex, transfers: readonly Transfer[]): Promise<void> {
  const entries = transfers.flatMap((transfer) => transfer.entries)
  const accounts = await lockAccounts(trx, entries)
  const reserves = await reserveIds(trx, transfers)
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
      transfers.map(({ resolves }) => (resolves === undefined ? null : reserves.get(resolves))),
      rows.map(({ place }) => place),
      rows.map(({ id }) => id),
      rows.map(({ amount }) => amount),
      rows.map(({ account }) => account.userId !== null),
    ],
  })
  const done = new Set(posted.map(({ idem }) => idem))
  // What was there already is compared with what was asked for.
  for (const transfer of transfers) if (!done.has(transfer.idem)) await postTransfer(trx, transfer)
}

interface AccountRow extends LedgerAccount {
  readonly id: bigint
}

/** The accounts of the entries by their name, users' ones opened where missing and locked in the order of ids. */
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

async function reserveIds(trx: Knex, transfers: readonly Transfer[]): Promise<ReadonlyMap<string, bigint>> {
  const keys = transfers.flatMap(({ resolves }) => resolves ?? [])
  if (keys.length === 0) return new Map()
  const rows = await query<{ id: bigint; idem: string }>(trx, {
    name: 'ledger.reserves',
    text: `select id, idem from ledger_transfers where idem = any($1::text[]) and kind = 'reserve'`,
    values: [keys],
  })
  const ids = new Map(rows.map(({ idem, id }) => [idem, id]))
  const unknown = keys.find((key) => !ids.has(key))
  if (unknown !== undefined) throw new Error(`Nothing was reserved as ${unknown}`)
  return ids
}
