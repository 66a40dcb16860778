import type { Batch } from '../../platform/worker/batch-loop.js'
import type { ChainTransaction, SignatureStatus } from '../../ports/chain.js'
import type { Services } from '../../services.js'
import { backfillMessages } from '../confirm/backfill-message.js'
import { type Confirmation, confirmTips } from '../confirm/confirm-tips.js'
import { finalizeOrFail } from '../confirm/finalize-tips.js'
import { loadMatchContext } from './load-match-context.js'
import { matchTip, type TipFacts } from './match-tip.js'
import { schedulePending } from './retry-schedule.js'
import { batchSize, type DueTip, finishTips, msToNextDueTip, takeDueTips } from './tip-queue.js'
import { verifyIssuedSignatures } from './verify-issued-signature.js'

type Needs = Pick<Services, 'db' | 'transact' | 'chain' | 'config' | 'metrics' | 'log'>

const hourMs = 3_600_000

/** Concurrent checks: while one waits for the chain, another computes and a third writes. */
const maxConcurrent = 3
/** Checks one after the other. Bounds a batch, because a stopping worker finishes its batch first. */
const maxInSequence = 4

/**
 * One batch of the verifier: take due tips, check them on the chain, write the results. Reading, calling and writing
 * happen in this order, so after a crash at any point the tips come due again (docs/decisions/0002). While more tips are
 * due than one check takes, several checks run concurrently.
 */
export function createVerifierBatch(services: Needs): Batch {
  const { db } = services
  return async () => {
    const running: Promise<void>[] = []
    let total = 0
    let failure: unknown
    async function checkInSequence(): Promise<void> {
      for (let checks = 1, full = true; full && checks <= maxInSequence; checks++) {
        const taken = await takeDueTips(db)
        total += taken.tips.length
        full = taken.tips.length === batchSize
        if (full && running.length < maxConcurrent) start()
        if (taken.tips.length > 0) await checkTips(services, taken)
      }
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
    return total === 0 ? { taken: 0, nextDueMs: await msToNextDueTip(db) } : { taken: total }
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
  await finishTips(services.db, [...schedules, ...finality.schedules, ...never])
  const failure = calls.failure() ?? finality.failure
  if (failure !== undefined) throw failure
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
  const matched = await matchTips(services, unproven, transactions, now)
  const confirmations = landed.flatMap((tip): Confirmation[] => {
    const { slot, commitment } = statuses.get(tip.id) as SignatureStatus
    const facts = proven.get(tip.id) ?? matched.get(tip.id)
    if (facts === undefined) return []
    const { id, claims } = tip
    const transaction = transactions.get(id) ?? { slot, blockTime: undefined }
    return [
      { id, claims, facts, transaction, final: commitment === 'finalized' && transaction.slot === slot },
    ]
  })
  await confirmTips(services, confirmations)
  const confirmed = new Set(confirmations.map(({ id }) => id))
  const giveUpMs = config.tips.claimWindowHours * hourMs
  return pending
    .filter(({ id }) => !confirmed.has(id))
    .map((tip) => {
      const answer = { status: statuses.get(tip.id), transaction: transactions.get(tip.id) }
      return schedulePending(tip, answer, giveUpMs)
    })
}

function isLanded(status: SignatureStatus | undefined): boolean {
  return status !== undefined && !status.failed && /^(confirmed|finalized)$/.test(status.commitment)
}

async function matchTips(
  { db, chain, config }: Needs,
  tips: readonly DueTip[],
  transactions: ReadonlyMap<string, ChainTransaction>,
  now: Date,
): Promise<ReadonlyMap<string, TipFacts>> {
  const readable = tips.filter(({ id }) => transactions.get(id)?.failed === false)
  const contextOf = await loadMatchContext(
    db,
    readable.map(({ id }) => transactions.get(id) as ChainTransaction),
  )
  const notBefore = new Date(now.getTime() - config.tips.claimWindowHours * hourMs)
  const { treasuryWallet: treasury } = config.tips
  const facts = new Map<string, TipFacts>()
  for (const { id, claims } of readable) {
    const transaction = transactions.get(id) as ChainTransaction
    const matched = matchTip(chain, { transaction, claims, treasury, notBefore, ...contextOf(transaction) })
    if (matched !== undefined) facts.set(id, matched)
  }
  return facts
}
