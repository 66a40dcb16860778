import type { Knex } from 'knex'
import { sumOf } from '../../kernel/money.js'
import { type Entry, lockBalances, transferEntries, userAccount } from '../../ledger/accounts.js'
import { freePending, releasePending } from '../../ledger/bulk-transfers.js'
import { credit, type NewTransfer, type Posted, reserve } from '../../ledger/transfers.js'
import { query, write } from '../../platform/database/database.js'
import { type DueRows, finishRows, takeDueRows } from '../../platform/database/due-rows.js'
import type { Services } from '../../services.js'
import { recordReleases } from '../../tips/describe-tips.js'
import { creditKeysOf } from '../gone-payments.js'

/**
 * Posts a credit of naira. Money that was paid by card may be called back for weeks, so until `availableAt` it is pending
 * (docs/decisions/0057). Null: it is available at once.
 */
export async function creditOrReserve(
  trx: Knex,
  transfer: NewTransfer,
  availableAt: Date | null,
): Promise<Posted> {
  if (availableAt === null || !transfer.entries.some(isAvailable)) return credit(trx, transfer)
  return reservePending(trx, { ...transfer, entries: transfer.entries.map(toPending) }, availableAt)
}

async function reservePending(trx: Knex, transfer: NewTransfer, availableAt: Date): Promise<Posted> {
  const posted = await reserve(trx, transfer)
  await write(trx, {
    name: 'card-reserves.add',
    text: /* sql */ `
      insert into card_reserves (id, transfer_id, available_at, due_at) values ($1, $2, $3, $3)
      on conflict (id) do nothing`,
    values: [transfer.key, posted.id, availableAt],
  })
  return posted
}

function isAvailable({ account }: Entry): boolean {
  return account.userId !== null && account.kind === 'available'
}

function toPending(entry: Entry): Entry {
  return isAvailable(entry) ? { ...entry, account: { ...entry.account, kind: 'pending' } } : entry
}

/** Money of a payment that was pending, and until when. */
export interface FreedReserve {
  readonly micro: bigint
  readonly availableAt: Date
}

/** The reserves of a payment that are not over, as SQL. `$1`: the payment. */
const openReserves = /* sql */ `due_at is not null and id in (
  select unnest(${creditKeysOf('$1')})
  union all
  select r.id || e.ending from refunds r cross join (values (':rest'), (':back')) e (ending) where r.provider_transaction = $1)`

/** What is pending of a payment. */
export async function readReserved(trx: Knex, transaction: string): Promise<bigint> {
  const [row] = await query<{ micro: bigint }>(trx, {
    name: 'card-reserves.micro',
    text: /* sql */ `
      select coalesce(sum(e.amount), 0)::bigint as micro from ledger_entries e join ledger_accounts a on a.id = e.account_id
      where a.kind = 'pending' and e.transfer_id in (select transfer_id from card_reserves where ${openReserves})`,
    values: [transaction],
  })
  return row?.micro ?? 0n
}

/**
 * Ends the reserves of a payment before their days are over, so that its tip can be given back from them. The caller sets the rest
 * aside again (`reserveAgain`). Undefined: nothing of it is pending.
 */
export async function freeReserves(
  trx: Knex,
  userId: string,
  transaction: string,
): Promise<FreedReserve | undefined> {
  // A worker that makes it available holds these too, until the row says so.
  await lockBalances(trx, userId)
  const rows = await query<{ id: string; availableAt: Date }>(trx, {
    name: 'card-reserves.free',
    text: /* sql */ `
      update card_reserves set due_at = null, attempts = attempts + 1
      where ${openReserves} returning id, available_at as "availableAt"`,
    values: [transaction],
  })
  const freed = await freePending(
    trx,
    rows.map(({ id }) => id),
  )
  const [first] = rows
  const micro = sumOf(freed, ({ amount }) => amount)
  return first && { micro, availableAt: first.availableAt }
}

/** Sets available money of a card payment aside again, under a key that `freeReserves` knows. */
export async function reserveAgain(
  trx: Knex,
  { key, ref, userId }: Pick<NewTransfer, 'key' | 'ref'> & { readonly userId: string },
  { micro, availableAt }: FreedReserve,
): Promise<void> {
  if (micro <= 0n) return
  const [from, to] = [userAccount(userId, 'available', 'USDC'), userAccount(userId, 'pending', 'USDC')]
  await reservePending(trx, { key, ref, entries: transferEntries(micro, from, to) }, availableAt)
}

/** When what a payment credits is available. Undefined: now. */
export async function findAvailableAt(trx: Knex, transaction: string): Promise<Date | undefined> {
  const [row] = await query<{ availableAt: Date }>(trx, {
    name: 'card-reserves.available-at',
    text: /* sql */ `
      select available_at as "availableAt" from fiat_payments
      where provider_transaction = $1 and available_at > clock_timestamp()`,
    values: [transaction],
  })
  return row?.availableAt
}

interface DueReserve {
  readonly id: string
  readonly attempts: number
}

const reserveQueue: DueRows = {
  name: 'card-reserves',
  table: 'card_reserves',
  id: 'text',
  batchSize: 64,
  leaseSeconds: 60,
  columns: 't.id, t.attempts',
}

/**
 * Makes the card money available whose days are over. The ledger posts a reserve once, so a worker that dies, and two at the
 * same time, change nothing. Each reserve has its own transaction: one that cannot be posted does not stop the others. Returns
 * how many rows were taken.
 */
export async function releaseCardReserves({
  db,
  transact,
  log,
}: Pick<Services, 'db' | 'transact' | 'log'>): Promise<number> {
  const due = await takeDueRows<DueReserve>(db, reserveQueue)
  for (const { id, attempts } of due)
    await transact(async (uow) => {
      const { trx } = uow
      recordReleases(uow, await releasePending(trx, [id]))
      await finishRows(trx, reserveQueue, [{ id, attempts, dueInMs: null }])
    }).catch((error: unknown) => {
      log.error({ err: error, id }, 'card money could not be made available; it is tried again in a minute')
    })
  return due.length
}
