import type { Knex } from 'knex'
import { sumDisputesUnderWay } from '../../fiat/disputes/dispute.js'
import { sumRefundsUnderWay } from '../../fiat/refunds/refund.js'
import { nairaText } from '../../kernel/money.js'
import { ProviderError } from '../../kernel/provider-error.js'
import { type Entry, platformAccount } from '../../ledger/accounts.js'
import { assetOf, createPlatformSums } from '../../ledger/platform-sums.js'
import { credit } from '../../ledger/transfers.js'
import type { Services } from '../../services.js'
import { dailyPayouts, sumOpenPayouts } from '../../withdrawals/sums.js'
import { differsForLong, type FloatReading, findLastReading, insertReading } from './float-readings.js'
import { decideFloat, type FloatMove } from './float-rule.js'

export type FloatNeeds = Pick<Services, 'db' | 'transact' | 'payouts' | 'config' | 'metrics' | 'log'>

/** The rest of the float must pay the withdrawals of a day. */
interface DailyNeed {
  /** In UTC. */
  readonly day: string
  readonly kobo: bigint | undefined
}

/**
 * Reads the provider's balance, stores the reading, and moves what has arrived there to `float_ngn`, in one transaction with the
 * key `float:<reading>`. Then it alarms if the float is low, or differs from the books for long. Returns undefined when the
 * provider gives no answer, or another process stored a reading meanwhile.
 */
export function createFloatReader(services: FloatNeeds): () => Promise<FloatReading | undefined> {
  const { db, transact, payouts, metrics, log } = services
  const sums = createPlatformSums(services, ['float_ngn', 'collections_receivable', 'in_transit'])
  let need: DailyNeed | undefined
  async function read(): Promise<FloatReading | undefined> {
    await sums.prepare()
    const last = await findLastReading(db)
    const bookBefore = assetOf(await sums.read(db), 'float_ngn', 'NGN')
    const balance = await payouts.readBalance()
    return transact(async ({ trx }) => {
      // Two readings would both move what has arrived. The second is dropped, because its books are older.
      await trx.raw(`select pg_advisory_xact_lock(hashtextextended('float-readings', 0))`)
      if ((await findLastReading(trx))?.id !== last?.id) return undefined
      const books = await sums.read(trx)
      const bookNow = assetOf(books, 'float_ngn', 'NGN')
      const underWay = await sumUnderWay(trx)
      const move = decideFloat({
        balance,
        bookBefore,
        bookNow,
        collections: assetOf(books, 'collections_receivable', 'NGN'),
        inTransit: assetOf(books, 'in_transit', 'NGN'),
        underWay,
      })
      const book = bookNow + move.settled + move.arrived
      const reading = await insertReading(trx, { ...move, balance, book, underWay })
      const entries = entriesOf(move)
      const key = `float:${reading.id}`
      if (entries.length > 0) await credit(trx, { key, ref: key, entries })
      return reading
    })
  }
  async function alarmIfLow({ balance, readAt }: FloatReading, waiting: bigint): Promise<void> {
    const day = readAt.toISOString().slice(0, 10)
    if (need?.day !== day) need = { day, kobo: await dailyPayouts(db) }
    if (need.kobo === undefined || balance - waiting >= need.kobo) return
    metrics.alerts.inc({ kind: 'float_low' })
    log.error(
      { balance: nairaText(balance), waiting: nairaText(waiting), day: nairaText(need.kobo) },
      'the float does not cover the withdrawals of another day: top it up',
    )
  }
  return async () => {
    const reading = await read().catch((error: unknown) => {
      if (!(error instanceof ProviderError)) throw error
      metrics.alerts.inc({ kind: 'fiatpay_away' })
      log.warn({ err: error }, 'the balance at the fiat provider could not be read; it is read again later')
      return undefined
    })
    if (reading === undefined) return undefined
    await alarmIfLow(reading, (await sumOpenPayouts(db)).waiting)
    if (reading.unexplained !== 0n && (await differsForLong(db))) {
      metrics.alerts.inc({ kind: 'float_differs' })
      log.error(
        {
          balance: nairaText(reading.balance),
          book: nairaText(reading.book),
          unexplained: nairaText(reading.unexplained),
        },
        'the balance at the fiat provider is not what the books say. Run: npm run ops -- treasury',
      )
    }
    return reading
  }
}

function entriesOf({ settled, arrived }: FloatMove): Entry[] {
  const entries: Entry[] = [
    { account: platformAccount('collections_receivable', 'NGN'), amount: settled },
    { account: platformAccount('in_transit', 'NGN'), amount: arrived },
    { account: platformAccount('float_ngn', 'NGN'), amount: -(settled + arrived) },
  ]
  return entries.filter(({ amount }) => amount !== 0n)
}

/** More than the provider takes for any transfer: NGN 100. What it took is known when the transfer has ended. */
const mostPayoutFeeKobo = 10_000n

/**
 * At most so much has the provider taken that is not booked yet: payouts with their fees, refunds and disputes. Whatever else leaves the
 * float later than the provider takes it belongs here.
 */
async function sumUnderWay(db: Knex): Promise<bigint> {
  const { underWay, underWayCount } = await sumOpenPayouts(db)
  let sum = underWay + underWayCount * mostPayoutFeeKobo
  // One after the other: a transaction has one connection.
  for (const read of [sumRefundsUnderWay, sumDisputesUnderWay]) sum += await read(db)
  return sum
}
