import type { Knex } from 'knex'
import { isFiatIntentId } from '../kernel/ids.js'
import { readStatusToken, statusKeySql } from '../kernel/status-link.js'
import { query } from '../platform/database/database.js'
import type { Payment } from './payment.js'
import { readCryptoPayment } from './read-crypto.js'
import { readNairaPayment } from './read-naira.js'

/** The payment of a status link. Undefined for every token that this service did not make. */
export async function findPayment(db: Knex, token: string): Promise<Payment | undefined> {
  const [row] = await query<{ key: Buffer }>(db, {
    name: 'receipts.link-key',
    text: `select ${statusKeySql} as key`,
    values: [],
  })
  const intentId = row && readStatusToken(row.key, token)
  if (intentId === undefined) return undefined
  return isFiatIntentId(intentId) ? readNairaPayment(db, intentId) : readCryptoPayment(db, intentId)
}
