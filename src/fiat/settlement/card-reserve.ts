import type { Knex } from 'knex'
import type { Entry } from '../../ledger/accounts.js'
import { releasePending } from '../../ledger/bulk-transfers.js'
import { credit, type NewTransfer, reserve } from '../../ledger/transfers.js'
import { query } from '../../platform/database/database.js'
import { type DueRows, finishRows, takeDueRows } from '../../platform/queue/due-rows.js'
import type { Services } from '../../services.js'

/**
 * Posts a credit of naira. Money that was paid by card may be called back for weeks, so until `availableAt` it is pending
 * (docs/decisions/0062). Null: it is available at once.
 */
export async function creditOrReserve(
  trx: Knex,
  transfer: NewTransfer,
  availableAt: Date | null,
): Promise<void> {
  if (availableAt === null || !transfer.entries.some(isAvailable)) {
    await credit(trx, transfer)
    return
  }
  const { id } = await reserve(trx, { ...transfer, entries: transfer.entries.map(toPending) })
  await query(trx, {
    name: 'card-reserves.add',
    text: /* sql */ `
      insert into card_reserves (id, transfer_id, available_at, due_at) values ($1, $2, $3, $3)
      on conflict (id) do nothing`,
    values: [transfer.key, id, availableAt],
  })
}

function isAvailable({ account }: Entry): boolean {
  return account.userId !== null && account.kind === 'available'
}

function toPending(entry: Entry): Entry {
  return isAvailable(entry) ? { ...entry, account: { ...entry.account, kind: 'pending' } } : entry
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
    await transact(async ({ trx }) => {
      await releasePending(trx, [id])
      await finishRows(trx, reserveQueue, [{ id, attempts, dueInMs: null }])
    }).catch((error: unknown) => {
      log.error({ err: error, id }, 'card money could not be made available; it is tried again in a minute')
    })
  return due.length
}
