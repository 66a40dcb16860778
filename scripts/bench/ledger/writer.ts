import { createDb } from '../../../src/platform/database/database.js'
import { doOperation, type OperationOutcome } from './operations.js'

/** What a writer says after each batch: up to where all operations are done, so that its successor knows where to continue. */
export interface Batch {
  readonly upTo: number
  readonly counts: Readonly<Record<OperationOutcome, number>>
}

/** A writer of `npm run bench -- ledger-stress`: runs a range of operations. */
const [seed = '', writer = '0', from = '0', to = '0'] = process.argv.slice(2)
const concurrency = 4
const batch = 50

// The parent process has died.
process.on('disconnect', () => process.exit(1))
const db = createDb(process.env['DATABASE_URL'] ?? '', concurrency)
const users = await db('users').orderBy('id').pluck('id')
for (let number = Number(from); number < Number(to); number += batch) {
  const upTo = Math.min(number + batch, Number(to))
  const counts: Record<OperationOutcome, number> = { posted: 0, repeated: 0, refused: 0 }
  let next = number
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      while (next < upTo) {
        const id = { seed, writer: Number(writer), number: next++ }
        counts[await doOperation(db, users, id)] += 1
      }
    }),
  )
  await new Promise((sent) => process.send?.({ upTo, counts } satisfies Batch, sent))
}
await db.destroy()
process.exit(0)
