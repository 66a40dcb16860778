import { createDb } from '../../../src/platform/database/database.js'
import { doOperation, type Outcome } from './operations.js'

/**
 * A writer of `npm run bench -- ledger-stress`. It runs a range of operations. After each batch it prints the number up to
 * which all are done, so that its successor knows where to continue.
 */
const [seed = '', writer = '0', from = '0', to = '0'] = process.argv.slice(2)
const concurrency = 4
const batch = 50

// The end of stdin means that the parent process has died.
process.stdin.on('end', () => process.exit(1)).resume()
const db = createDb(process.env['DATABASE_URL'] ?? '', concurrency)
const users = await db('users').orderBy('id').pluck('id')
for (let number = Number(from); number < Number(to); number += batch) {
  const end = Math.min(number + batch, Number(to))
  const counts: Record<Outcome, number> = { posted: 0, repeated: 0, refused: 0 }
  let next = number
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      while (next < end) {
        const id = { seed, writer: Number(writer), number: next++ }
        counts[await doOperation(db, users, id)] += 1
      }
    }),
  )
  process.stdout.write(`${JSON.stringify({ done: end, ...counts })}\n`)
}
await db.destroy()
process.exit(0)
