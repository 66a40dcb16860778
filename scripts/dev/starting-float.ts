import { booksStatementMs } from '../../src/ledger/invariants.js'
import { createDb } from '../../src/platform/database/database.js'
import { readPosition } from '../../src/reserves/position.js'
import { Order } from '../ops/support/order.js'
import { checkOutside, recordOutside } from '../ops/support/treasury/record-outside.js'
import { startingFloatKobo } from '../sandbox/fiatpay/balance.js'

const reference = 'npm-run-dev:starting-float'

/**
 * Records the starting balance of the bank stand-in as the owners' money, as an operator does with a real provider's. Once; not
 * in a database where somebody has recorded naira of the owners by hand.
 */
export async function recordStartingFloat(databaseUrl: string): Promise<void> {
  const db = createDb(databaseUrl, 1, booksStatementMs)
  const event = {
    kind: 'equity',
    currency: 'NGN',
    units: BigInt(startingFloatKobo),
    direction: 'in',
  } as const
  try {
    if (await checkOutside(db, event, reference)) return
    if ((await readPosition(db)).equity.NGN !== 0n) return
    const order = new Order({ as: 'npm run dev', reason: 'opening balance', apply: true })
    await recordOutside(db, { event, reference, evidence: 'the bank stand-in starts with it' }, order)
  } finally {
    await db.destroy()
  }
}
