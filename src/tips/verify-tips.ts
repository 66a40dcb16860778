import { namedOrigin, noOrigin } from '../kernel/trace-context.js'
import { finishRows, msToNextDueRow } from '../platform/database/due-rows.js'
import type { Batch } from '../platform/worker/batch-loop.js'
import type { ChainTransaction, SignatureStatus } from '../ports/chain.js'
import type { Services } from '../services.js'
import { findDisputedPayments, needsAgreement, sumOf } from './confirm/agreement.js'
import { backfillMessages } from './confirm/backfill-message.js'
import { type Confirmation, confirmTips } from './confirm/confirm-tips.js'
import { creditMissing } from './confirm/credit-tips.js'
import { finalizeOrFail } from './confirm/finalize-tips.js'
import { creditsOf } from './verify/balance-changes.js'
import { loadMatchContext } from './verify/load-match-context.js'
import { matchTip, type TipFacts } from './verify/match-tip.js'
import { isFinalized, isLanded, schedulePending } from './verify/retry-schedule.js'
import { type DueTip, type TipSchedule, takeDueTips, tipQueue } from './verify/tip-queue.js'
import { verifyIssuedSignatures } from './verify/verify-issued-signature.js'

type Needs = Pick<Services, 'db' | 'transact' | 'chain' | 'config' | 'metrics' | 'log'>

const hourMs = 3_600_000

/** Concurrent checks: while one waits for the chain, another computes and a third writes. */
const maxConcurrent = 3
/** Checks one after the other. Bounds a batch, because a stopping worker finishes its batch first. */
const maxInSequence = 4

/**
 * One batch of the verifier: take due tips, check them on the chain, write the results. Reading, calling and writing
 * happen in this order, so after a crash at any point the tips come due again (docs/decisions/0001). While more tips are
 * due than one check takes, several checks run concurrently.
 */
export function createVerifierBatch(services: Needs): Batch {
  const { db } = services
  return async () => {
    const running: Promise<void>[] = []
    let total = 0
    let mayBeMore = false
    let failure: unknown
    async function checkInSequence(): Promise<void> {
      let full = true
      for (let checks = 1; full && checks <= maxInSequence; checks++) {
        const taken = await takeDueTips(db)
        total += taken.tips.length
        full = taken.tips.length === tipQueue.batchSize
        if (full && running.length < maxConcurrent) start()
        if (taken.tips.length > 0) await checkTips(services, taken)
      }
      mayBeMore ||= full
    }
    function start(): void {
      running.push(
        checkInSequence().catch((error: unknown) => {
          failure = error
        }),
      )
    }
    start()
    // A running sequence can start another one, so the array grows during this loop.
    for (const sequence of running) await sequence
    // The tips are scheduled already. The worker loop counts the failure and pauses.
    if (failure !== undefined) throw failure
    if (mayBeMore) return { taken: total }
    return { taken: total, full: false, nextDueMs: await msToNextDueRow(db, tipQueue) }
  }
}

async function checkTips(
  services: Needs,
  { now, tips }: { readonly now: Date; readonly tips: readonly DueTip[] },
): Promise<void> {
  const pending = tips.filter(({ status }) => status === 'pending')
  const confirmed = tips.filter(({ status }) => status === 'confirmed')
  const unfinalized = confirmed.filter(({ final }) => !final)
  const calls = createChainCalls()
  const ids = [...pending, ...unfinalized].map(({ id }) => id)
  const statuses = await calls.orEmpty(services.chain.statuses(ids))

  const schedules = await verifyPending(services, pending, statuses, now, calls)
  await backfillMessages(services, confirmed)
  const finality = await finalizeOrFail(services, unfinalized, statuses)
  const done = tips.filter(({ status, final }) => final || status === 'failed')
  const never = done.map(({ id, attempts }) => ({ id, attempts, dueInMs: null, outcome: null }))
  await finishRows(services.db, tipQueue, [...schedules, ...finality.schedules, ...never])
  logEnded(services, pending, schedules)
  const failure = calls.failure() ?? finality.failure
  if (failure !== undefined) throw failure
}

const endTexts = {
  tx_failed: 'the transaction of a tip failed',
  not_found: 'the transaction of a tip was never found',
  mismatch: 'a transaction is not the tip that was claimed',
} as const

/** The tips that are not looked at any more. A claim that comes in meanwhile begins again. */
function logEnded({ log }: Needs, tips: readonly DueTip[], schedules: readonly TipSchedule[]): void {
  const origins = new Map(tips.map((tip) => [tip.id, tip]))
  for (const { id, outcome } of schedules)
    if (outcome !== null)
      log.info({ tip: id, ...namedOrigin(origins.get(id) ?? noOrigin) }, endTexts[outcome])
}

/**
 * Calls to the chain. A failed call counts as an empty answer, so that its tips are scheduled to be checked again soon, not
 * at the end of the lease. The error is kept for the worker loop.
 */
function createChainCalls() {
  let failure: unknown
  return {
    failure: () => failure,
    orEmpty: <T>(call: Promise<Map<string, T>>): Promise<Map<string, T>> =>
      call.catch((error: unknown) => {
        failure = error
        return new Map()
      }),
  }
}

/** Confirms the tips that have landed and match. Returns when the others are due again. */
async function verifyPending(
  services: Needs,
  pending: readonly DueTip[],
  statuses: ReadonlyMap<string, SignatureStatus>,
  now: Date,
  calls: ReturnType<typeof createChainCalls>,
) {
  const { db, chain, config } = services
  const landed = pending.filter(({ id }) => isLanded(statuses.get(id)))
  const proven = await verifyIssuedSignatures(db, landed, config.tips.treasuryWallet)
  const unproven = landed.filter(({ id }) => !proven.has(id))
  const transactions = await calls.orEmpty(chain.transactions(unproven.map(({ id }) => id)))
  const { matched, paid } = await matchTips(services, unproven, transactions, now)
  const confirmations = landed.flatMap((tip): Confirmation[] => {
    const { slot } = statuses.get(tip.id) as SignatureStatus
    const facts = proven.get(tip.id) ?? matched.get(tip.id)
    if (facts === undefined) return []
    const { id, claims } = tip
    const transaction = transactions.get(id) ?? { slot, blockTime: undefined }
    // A credit that needs the agreement of every endpoint gets it on the way to finality.
    const final = isFinalized(statuses.get(id), transaction) && !needsAgreement(config, sumOf(facts.credits))
    return [{ id, claims, facts, transaction, final }]
  })
  await confirmTips(services, confirmations)
  const isFinal = (id: string): boolean => isFinalized(statuses.get(id), transactions.get(id))
  const disputed = await findDisputedPayments(
    services,
    unproven.flatMap(({ id, ageMs }) => {
      const credits = paid.get(id)
      return credits !== undefined && isFinal(id) ? [{ signature: id, credits, ageMs }] : []
    }),
  )
  const awaiting = new Set([...paid.keys()].filter((id) => !isFinal(id) || disputed.has(id)))
  await creditWithoutTip(
    services,
    [...paid].filter(([id]) => !awaiting.has(id)),
  )
  const confirmed = new Set(confirmations.map(({ id }) => id))
  const giveUpMs = config.tips.claimWindowHours * hourMs
  return pending
    .filter(({ id }) => !confirmed.has(id))
    .map((tip) => {
      const answer = {
        status: statuses.get(tip.id),
        transaction: transactions.get(tip.id),
        isAnswered: calls.failure() === undefined,
        awaitsFinality: awaiting.has(tip.id),
      }
      return schedulePending(tip, answer, giveUpMs)
    })
}

/** Credits custody wallets that a final transaction paid although it is no tip (docs/decisions/0007). */
async function creditWithoutTip(
  { transact }: Needs,
  paid: readonly (readonly [string, Credits])[],
): Promise<void> {
  if (paid.length === 0) return
  const wallets = paid.flatMap(([signature, credits]) =>
    [...credits].map(([wallet, micro]) => ({ signature, wallet, micro })),
  )
  await transact(async ({ trx }) => {
    await creditMissing(trx, wallets)
  })
}

/** Micro-USDC by custody wallet. */
type Credits = TipFacts['credits']

/** `matched`: the facts of tips. `paid`: the credits of recent transactions that are no tips. */
async function matchTips(
  { db, chain, config }: Needs,
  tips: readonly DueTip[],
  transactions: ReadonlyMap<string, ChainTransaction>,
  now: Date,
): Promise<{ matched: Map<string, TipFacts>; paid: Map<string, Credits> }> {
  const readable = tips.filter(({ id }) => transactions.get(id)?.failed === false)
  const contextOf = await loadMatchContext(
    db,
    readable.map(({ id }) => transactions.get(id) as ChainTransaction),
  )
  const notBefore = new Date(now.getTime() - config.tips.claimWindowHours * hourMs)
  const { treasuryWallet: treasury } = config.tips
  const matched = new Map<string, TipFacts>()
  const paid = new Map<string, Credits>()
  for (const { id, claims } of readable) {
    const transaction = transactions.get(id) as ChainTransaction
    const context = contextOf(transaction)
    const rule = { treasury, notBefore }
    const facts = matchTip(chain, { transaction, claims, ...rule, ...context })
    if (facts !== undefined) matched.set(id, facts)
    else if (transaction.blockTime !== undefined && transaction.blockTime >= notBefore) {
      const credits = creditsOf(chain, transaction, context.creators, treasury)
      if (credits.size > 0) paid.set(id, credits)
    }
  }
  return { matched, paid }
}
