import { type DuePaymentIntent, intentQueue } from '../../intents/intent-queue.js'
import { type Token, tokenByMint } from '../../kernel/tokens.js'
import { finishRows, msToNextDueRow, type Schedule, takeDueRows } from '../../platform/database/due-rows.js'
import type { Batch } from '../../platform/worker/batch-loop.js'
import type { Services } from '../../services.js'
import { claimFromPayment, recordFound, type SignedClaim } from './claim.js'

type Needs = Pick<Services, 'db' | 'transact' | 'chain' | 'config'>

/** The first search is 30 s after creation (default of `due_at`). Each further wait is as long as the intent is old. */
const minWaitMs = 5000
/**
 * Seven searches have found nothing by then. The transaction has expired, even if a wallet replaced its blockhash. A
 * payment that is reported later is still accepted.
 */
const giveUpMs = 35 * 60_000

/**
 * One batch of the finder. It searches the chain for the reference keys of open payment intents and records each
 * signature it finds as a claim, as if the supporter's client had reported it. The verifier then checks it like any
 * other claim (docs/decisions/0013).
 */
export function createFinderBatch(services: Needs): Batch {
  const { db, chain } = services
  return async () => {
    const intents = await takeDueRows<DuePaymentIntent>(db, intentQueue)
    if (intents.length === 0) return { taken: 0, nextDueMs: await msToNextDueRow(db, intentQueue) }
    let failure: unknown
    const keys = intents.flatMap(({ referenceKey }) => referenceKey ?? [])
    const found = await chain.signaturesFor(keys).catch((error: unknown) => {
      failure = error
      return new Map<string, readonly string[]>()
    })
    const claims = intents.flatMap((intent) =>
      (found.get(intent.referenceKey ?? '') ?? []).map((signature) => claimFor(intent, signature)),
    )
    if (claims.length > 0)
      await services.transact(async ({ trx, wake }) => {
        await recordFound(trx, claims, services.config.tips.claimWindowHours)
        wake('verifier')
      })
    await finishRows(
      db,
      intentQueue,
      intents.map((intent) => scheduleSearch(intent, found)),
    )
    if (failure !== undefined) throw failure
    return { taken: intents.length }
  }
}

/** When to search for an intent again. */
function scheduleSearch(
  { id, attempts, ageMs, referenceKey }: DuePaymentIntent,
  found: ReadonlyMap<string, readonly string[]>,
): Schedule {
  // Without a reference key the payment cannot be found. It becomes a tip only when it is reported.
  if (referenceKey === null) return { id, attempts, dueInMs: null }
  const isAnswered = found.has(referenceKey)
  return { id, attempts, dueInMs: isAnswered && ageMs > giveUpMs ? null : Math.max(minWaitMs, ageMs) }
}

/** The claim the supporter's client would have made: the input token and the gross amount. */
function claimFor(intent: DuePaymentIntent, signature: string): SignedClaim {
  const { symbol } = tokenByMint(intent.inputMint) as Token
  return claimFromPayment({
    signature,
    creatorWallet: intent.payoutWallet,
    sender: intent.sourceWallet,
    units: BigInt(intent.inputRaw),
    tokenSymbol: symbol,
    intentId: intent.id,
  })
}
