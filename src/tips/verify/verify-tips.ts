import type { Batch } from '../../platform/worker/batch-loop.js'
import type { ChainTransaction, SignatureStatus } from '../../ports/chain.js'
import type { Services } from '../../services.js'
import { backfillMessages } from '../confirm/backfill-message.js'
import { type Confirmation, confirmTips } from '../confirm/confirm-tips.js'
import { finalizeOrFail } from '../confirm/finalize-tips.js'
import { loadMatchContext } from './load-match-context.js'
import { matchTip, type TipFacts } from './match-tip.js'
import { schedulePending } from './retry-schedule.js'
import { batchSize, type DueTip, finishTips, nextDueIn, takeDueTips } from './tip-queue.js'
import { verifyIssuedSignatures } from './verify-issued-signature.js'

type Needs = Pick<Services, 'db' | 'transact' | 'chain' | 'config' | 'metrics' | 'log'>

const hourMs = 3_600_000

/** Looks at once: while one waits for the chain, another computes and a third writes. */
const lanes = 3
/** Looks of one batch and lane: a worker that is told to stop ends its batch first. */
const looksEach = 4

/**
 * One batch of the verifier: take what is due, look at the chain in batches, write down what was found. In this
 * order - look, call, transact - and a crash anywhere leaves rows that come due again by themselves. As long as there
 * is more than one look can take, several run side by side.
 */
export function createVerifierBatch(services: Needs): Batch {
  const { db } = services
  return async () => {
    const running: Promise<void>[] = []
    let total = 0
    let failure: unknown
    async function lane(): Promise<void> {
      for (let looks = 1, full = true; full && looks <= looksEach; looks++) {
        const taken = await takeDueTips(db)
        total += taken.tips.length
        full = taken.tips.length === batchSize
        if (full && running.length < lanes) start()
        if (taken.tips.length > 0) await look(services, taken)
      }
    }
    function start(): void {
      running.push(
        lane().catch((error: unknown) => {
          failure = error
        }),
      )
    }
    start()
    // Grows while it is walked.
    for (const one of running) await one
    // The tips are put off already; whoever runs the batch counts the failure and pauses.
    if (failure !== undefined) throw failure
    return total === 0 ? { taken: 0, nextDueMs: await nextDueIn(db, 'tips') } : { taken: total }
  }
}

async function look(
  services: Needs,
  { now, tips }: { readonly now: Date; readonly tips: readonly DueTip[] },
): Promise<void> {
  const pending = tips.filter(({ status }) => status === 'pending')
  const confirmed = tips.filter(({ status }) => status === 'confirmed')
  const unsettled = confirmed.filter(({ final }) => !final)
  const asked = createAsking()
  const statuses = await asked.orNone(services.chain.statuses([...pending, ...unsettled].map(({ id }) => id)))

  const looks = await verifyPending(services, pending, statuses, now, asked)
  await backfillMessages(services, confirmed)
  const settled = await finalizeOrFail(services, unsettled, statuses)
  const nothingLeft = tips.filter(({ status, final }) => final || status === 'failed')
  const rest = nothingLeft.map(({ id, attempts }) => ({ id, attempts, dueInMs: null, outcome: null }))
  await finishTips(services.db, [...looks, ...settled.looks, ...rest])
  const failure = asked.failure() ?? settled.failure
  if (failure !== undefined) throw failure
}

/**
 * Questions to a chain that may give no usable answer: then it gives none about these tips, which are looked at again
 * soon, not at the end of the lease.
 */
function createAsking() {
  let failure: unknown
  return {
    failure: () => failure,
    orNone: <T>(asked: Promise<Map<string, T>>): Promise<Map<string, T>> =>
      asked.catch((error: unknown) => {
        failure = error
        return new Map()
      }),
  }
}

/** Confirms what has landed and is a tip. Answers when to look again at the others. */
async function verifyPending(
  services: Needs,
  pending: readonly DueTip[],
  statuses: ReadonlyMap<string, SignatureStatus>,
  now: Date,
  asked: ReturnType<typeof createAsking>,
) {
  const { db, chain, config } = services
  const landed = pending.filter(({ id }) => isLanded(statuses.get(id)))
  const proven = await verifyIssuedSignatures(db, landed, config.tips.treasuryWallet)
  const unproven = landed.filter(({ id }) => !proven.has(id))
  const transactions = await asked.orNone(chain.transactions(unproven.map(({ id }) => id)))
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
  const done = new Set(confirmations.map(({ id }) => id))
  const giveUpMs = config.tips.claimWindowHours * hourMs
  return pending
    .filter(({ id }) => !done.has(id))
    .map((tip) => {
      const seen = { status: statuses.get(tip.id), transaction: transactions.get(tip.id) }
      return schedulePending(tip, seen, giveUpMs)
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
  const known = await loadMatchContext(
    db,
    readable.map(({ id }) => transactions.get(id) as ChainTransaction),
  )
  const notBefore = new Date(now.getTime() - config.tips.claimWindowHours * hourMs)
  const { treasuryWallet: treasury } = config.tips
  const facts = new Map<string, TipFacts>()
  for (const { id, claims } of readable) {
    const transaction = transactions.get(id) as ChainTransaction
    const found = matchTip(chain, { transaction, claims, treasury, notBefore, ...known(transaction) })
    if (found !== undefined) facts.set(id, found)
  }
  return facts
}
