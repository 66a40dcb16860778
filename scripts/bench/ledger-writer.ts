import { createDb } from '../../src/platform/database/database.js'
import { doOperation, type Outcome } from './ledger-operations.js'

/**
 * One writer of the ledger's stress: does the operations from one number up to another, and prints after each batch
 * the number before which all are done, so that whoever kills it knows where the next one begins.
 */
const [seed = '', writer = '0', from = '0', to = '0'] = process.argv.slice(2)
const width = 4
const batch = 50

// The parent holds the other end: without it nobody would read on.
process.stdin.on('end', () => process.exit(1)).resume()
const db = createDb(process.env['DATABASE_URL'] ?? '', width)
const users = await db('users').orderBy('id').pluck('id')
for (let number = Number(from); number < Number(to); number += batch) {
  const end = Math.min(number + batch, Number(to))
  const counts: Record<Outcome, number> = { posted: 0, repeated: 0, refused: 0 }
  let next = number
  await Promise.all(
    Array.from({ length: width }, async () => {
      while (next < end) {
        const draw = { seed, writer: Number(writer), number: next++ }
        counts[await doOperation(db, users, draw)] += 1
      }
    }),
  )
  process.stdout.write(`${JSON.stringify({ done: end, ...counts })}\n`)
}
await db.destroy()
process.exit(0)
