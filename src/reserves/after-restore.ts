import type { CollectionDifference } from '../fiat/disputes/compare-collections.js'
import { compareCollections, listDifferences } from '../fiat/disputes/compare-collections.js'
import { readClock } from '../platform/database/read-clock.js'
import { acceptDatabase, type DatabaseEpoch, readEpoch } from '../platform/database/restore-guard.js'
import type { Services } from '../services.js'
import { compareTransfers, type Difference } from '../withdrawals/reconcile/compare-statement.js'

const hourMs = 3_600_000
/** Before the last look at the rows: what began then and ended in the lost time is compared too. */
const marginHours = 24
const maxDifferences = 10_000
/** A standby takes over within this time. Who goes back further has restored something. */
const failoverMs = 15 * 60_000
/** After differences were found. */
const pauseMs = 10 * 60_000

type Needs = Parameters<typeof compareTransfers>[0] & Parameters<typeof compareCollections>[0]

export interface LostTime {
  readonly transfers: readonly Difference[]
  readonly collections: readonly CollectionDifference[]
}

/**
 * Compares the provider's lists with the rows, from a day before the moment to which they were restored (docs/decisions/0072). Changes
 * no money. Throws ProviderError.
 */
export async function compareLostTime(
  services: Needs,
  { seenAt }: Pick<DatabaseEpoch, 'seenAt'>,
): Promise<LostTime> {
  const now = (await readClock(services.db)).getTime()
  const hours = Math.ceil((now - (seenAt?.getTime() ?? 0)) / hourMs) + marginHours
  const transfers = await compareTransfers(services, hours)
  await compareCollections(services, hours)
  return { transfers, collections: await listDifferences(services.db, maxDifferences) }
}

/**
 * Lets payouts run again after a standby was promoted: the rows are seen where they were minutes ago, and the provider's lists show
 * nothing that they lack. Everything else waits for `restore-check`. Call it now and then.
 */
export function createMovedCheck(services: Needs & Pick<Services, 'transact'>): () => Promise<void> {
  const { db, transact, log } = services
  let notBefore = 0
  return async () => {
    const epoch = await readEpoch(db)
    if (epoch.state !== 'moved' || performance.now() < notBefore) return
    const away = (await readClock(db)).getTime() - (epoch.seenAt?.getTime() ?? 0)
    const lost = away < failoverMs ? await compareLostTime(services, epoch) : undefined
    if (lost === undefined || lost.transfers.length + lost.collections.length > 0) {
      notBefore = performance.now() + pauseMs
      log.error(
        'the database has another timeline and may lack what was paid. Run: npm run ops -- restore-check',
      )
      return
    }
    const accepted = await transact(async ({ trx, wake }) => {
      if ((await readEpoch(trx)).state !== 'moved') return false
      await acceptDatabase(trx)
      wake('payouts')
      return true
    })
    if (accepted)
      log.warn(
        { seenAt: epoch.seenAt },
        'another server has taken over, and nothing was lost of what the provider has',
      )
  }
}
