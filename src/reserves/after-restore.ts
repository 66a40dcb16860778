import type { CollectionDifference } from '../fiat/disputes/compare-collections.js'
import { compareCollections } from '../fiat/disputes/compare-collections.js'
import { readClock } from '../platform/database/read-clock.js'
import { acceptDatabase, type DatabaseEpoch, readEpoch } from '../platform/database/restore-guard.js'
import type { Services } from '../services.js'
import { recordLanded } from '../tips/confirm/record-landed.js'
import { compareTransfers, type Difference } from '../withdrawals/reconcile/compare-statement.js'
import { type ChainDifference, compareChain } from './compare-chain.js'

const hourMs = 3_600_000
/** Before the last look at the rows: what began then and ended in the lost time is compared too. */
const marginHours = 24
/** A standby takes over within this time. Who goes back further has restored something. */
const failoverMs = 15 * 60_000
/** After a comparison that failed or found differences: some are work under way, and end by themselves. */
const retryMs = 30_000
/** When only a person can go on. */
const pauseMs = 10 * 60_000

type Needs = Parameters<typeof compareTransfers>[0] &
  Parameters<typeof compareCollections>[0] &
  Parameters<typeof compareChain>[0]

export interface LostTime {
  readonly transfers: readonly Difference[]
  readonly collections: readonly CollectionDifference[]
  readonly chain: readonly ChainDifference[]
}

/** From when on the chain is compared: a day before the moment to which the rows were restored. */
export function comparedSince({ seenAt }: Pick<DatabaseEpoch, 'seenAt'>): Date {
  return new Date(Math.max(0, (seenAt?.getTime() ?? 0) - marginHours * hourMs))
}

/**
 * Compares the provider's lists and the custody wallets on the chain with the rows, from a day before the moment to which they were
 * restored (docs/decisions/0072). Changes no money. Throws ProviderError when one of them cannot be read to its end. `report`: how many
 * wallets were read, and how many transactions are unknown.
 */
export async function compareLostTime(
  services: Needs,
  epoch: Pick<DatabaseEpoch, 'seenAt'>,
  report?: Parameters<typeof compareChain>[2],
): Promise<LostTime> {
  const since = comparedSince(epoch)
  const lists = await compareLists(services, since)
  const { differences: chain } = await compareChain(services, since, report)
  return { ...lists, chain }
}

async function compareLists(services: Needs, since: Date): Promise<Omit<LostTime, 'chain'>> {
  const now = await readClock(services.db)
  const hours = Math.ceil((now.getTime() - since.getTime()) / hourMs)
  const transfers = await compareTransfers(services, hours)
  return { transfers, collections: await compareCollections(services, hours) }
}

/**
 * The same for a standby that has taken over. What it lost of crypto tips needs no person: they are recorded like those that their
 * supporters report now. A day of margin would show what was never reported as lost.
 */
async function compareTakeover(services: Needs & Pick<Services, 'transact'>, seenAt: Date): Promise<number> {
  const { transact, config } = services
  const { transfers, collections } = await compareLists(services, comparedSince({ seenAt }))
  const since = new Date(seenAt.getTime() - failoverMs)
  const { differences, payments } = await compareChain(services, since)
  await transact(async ({ trx, wake }) => {
    await recordLanded(trx, payments, config.tips.claimWindowHours)
    wake('verifier')
  })
  const others = differences.filter(({ kind }) => kind !== 'payment')
  return transfers.length + collections.length + others.length
}

/** Until this block, what was signed before now can land. */
export async function readLastLanding({ custodyChain }: Pick<Services, 'custodyChain'>): Promise<number> {
  return (await custodyChain.freshBlockhash()).lastValidBlockHeight
}

/** Of all endpoints the one that is furthest behind decides: the comparison may read that one. */
export async function mayLandUntil(
  { custodyChain }: Pick<Services, 'custodyChain'>,
  block: number,
): Promise<boolean> {
  const [fate] = await custodyChain.fates([{ signature: undefined, lastValidHeight: block }])
  return fate?.kind !== 'gone'
}

/**
 * Lets payouts run again after a standby was promoted: the rows are seen where they were minutes ago, and the provider's lists and
 * the chain show nothing that they lack, once nothing lost can land any more. Everything else waits for `restore-check`. Call it now and then.
 */
export function createMovedCheck(services: Needs & Pick<Services, 'transact'>): () => Promise<void> {
  const { db, transact, log } = services
  let notBefore = 0
  /** Of the takeover whose loss may still land. */
  let landing: { readonly identity: string; readonly until: number } | undefined
  async function mayStillLand({ identity }: DatabaseEpoch): Promise<boolean> {
    if (landing?.identity !== identity) landing = { identity, until: await readLastLanding(services) }
    return mayLandUntil(services, landing.until)
  }
  return async () => {
    const epoch = await readEpoch(db)
    if (epoch.state !== 'moved' || performance.now() < notBefore) return
    const seenAt = await seenBeforeTakeover(db, epoch)
    if (seenAt !== undefined && (await mayStillLand(epoch))) return
    notBefore = performance.now() + (seenAt === undefined ? pauseMs : retryMs)
    if (seenAt === undefined || (await compareTakeover(services, seenAt)) > 0) {
      log.error(
        'the database has another timeline and may lack what was paid. Run: npm run ops -- restore-check',
      )
      return
    }
    if (await acceptMoved(transact, epoch))
      log.warn(
        { seenAt },
        'another server has taken over, and nothing was lost of what provider and chain have',
      )
  }
}

/** When the rows were seen last, if that is so recent that a standby has taken over. */
async function seenBeforeTakeover(db: Services['db'], { seenAt }: DatabaseEpoch): Promise<Date | undefined> {
  const now = await readClock(db)
  return seenAt !== null && now.getTime() - seenAt.getTime() < failoverMs ? seenAt : undefined
}

/** False: not these rows were compared. */
function acceptMoved(transact: Services['transact'], epoch: DatabaseEpoch): Promise<boolean> {
  return transact(async ({ trx, wake }) => {
    const accepted = await acceptDatabase(trx, epoch)
    if (accepted) wake('payouts')
    return accepted
  })
}
