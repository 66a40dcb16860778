import type { Knex } from 'knex'
import { query } from '../../platform/database/database.js'
import type { ChainTransaction } from '../../ports/chain.js'
import type { Services } from '../../services.js'
import { creditsOf } from '../verify/balance-changes.js'
import { loadMatchContext, namedIn } from '../verify/load-match-context.js'
import { matchTip } from '../verify/match-tip.js'
import { isFinalized, isLanded } from '../verify/retry-schedule.js'
import { type ClaimsRow, claimsOf, claimsSql } from '../verify/tip-queue.js'
import { findDisputedPayments } from './agreement.js'
import type { Confirmation } from './confirm-tips.js'
import { creditKey, ownersOf, type PaidWallet, readCredited } from './credit-tips.js'

/** A custody wallet that the transaction of a recorded signature paid, and that has no credit for it. */
export interface CreditGap extends PaidWallet {
  /** The key the credit will have in the ledger. */
  readonly key: string
  readonly userId: string
  /** Only what is final may be credited: its transaction cannot vanish any more. */
  readonly final: boolean
  /**
   * `confirmed`: the credit is missing beside a tip. `pending`: the tip was found false, and its confirmation credits it.
   * `none`: the transaction pays no tip, because no single signer lost the USDC.
   */
  readonly tip: 'confirmed' | 'pending' | 'none'
}

export interface CreditGaps {
  readonly gaps: CreditGap[]
  /** The final tips to confirm, of the gaps with a pending tip. */
  readonly confirmations: Confirmation[]
  readonly tips: number
  /** Transactions the chain did not give, which proves nothing. */
  readonly unread: number
  readonly next: TipPosition | undefined
}

/** The last tip of a page; the next page starts after it. */
export type TipPosition = string

export const maxDays = 3660
/** Tips of one page. Their transactions are read in batches. */
const pageSize = 256

interface TipRow extends ClaimsRow {
  readonly id: string
  readonly status: 'confirmed' | 'pending'
  /** Null while pending. */
  readonly recipient: string | null
  readonly final: boolean
}

/** A recorded signature with what the chain has about it. */
interface FoundTip {
  readonly tip: TipRow
  readonly transaction: ChainTransaction
  readonly final: boolean
}

/**
 * Reads one page of recorded signatures and their transactions, and compares what custody wallets received with the ledger.
 * Signatures that the verifier found false are compared with the rules of today, whatever their age.
 */
export async function findCreditGaps(
  services: Pick<Services, 'db' | 'chain' | 'config' | 'metrics' | 'log'>,
  days: number,
  after: TipPosition | undefined,
): Promise<CreditGaps> {
  const { db, chain, config } = services
  const tips = await readTips(db, days, after)
  const { found, unread } = await readChain(services, tips)
  const transactions = found.map(({ transaction }) => transaction)
  const owners = await ownersOf(db, [...new Set(transactions.flatMap(namedIn))])
  const contextOf = await loadMatchContext(
    db,
    found.filter(({ tip }) => tip.status === 'pending').map(({ transaction }) => transaction),
  )
  const confirmations = found.flatMap(({ tip, transaction, final }): Confirmation[] => {
    if (tip.status === 'confirmed') return []
    const claims = claimsOf(tip)
    const rule = { treasury: config.tips.treasuryWallet, notBefore: new Date(0) }
    const facts = matchTip(chain, { transaction, claims, ...rule, ...contextOf(transaction) })
    // A claim alone makes no tip of an old transfer to an unregistered wallet.
    const isOurs =
      facts !== undefined &&
      (owners.has(facts.recipient) || (facts.intentId ?? facts.underpaidIntentId) !== null)
    return isOurs ? [{ id: tip.id, claims, facts, transaction, final }] : []
  })
  const recipients = new Map([
    ...tips.map(({ id, recipient }) => [id, recipient] as const),
    ...confirmations.map(({ id, facts }) => [id, facts.recipient] as const),
  ])
  const pending = new Set(confirmations.map(({ id }) => id))
  const paid = found.flatMap(({ tip: { id, status }, transaction, final }) => {
    const credits = creditsOf(chain, transaction, new Set(owners.keys()), config.tips.treasuryWallet)
    return [...credits].map(([wallet, micro]): CreditGap => {
      const key = creditKey(id, wallet === recipients.get(id) ? undefined : wallet)
      const tip = status === 'confirmed' ? status : pending.has(id) ? 'pending' : 'none'
      return { signature: id, key, wallet, userId: owners.get(wallet) as string, micro, final, tip }
    })
  })
  const isCredited = await readCredited(db, paid, (signature) => recipients.get(signature))
  const missing = paid.filter((one) => !isCredited(one))
  const disputed = await findDisputedPayments(services, paymentsOf(missing))
  const gaps = missing.map((gap) => ({ ...gap, final: gap.final && !disputed.has(gap.signature) }))
  return {
    gaps,
    confirmations: confirmations.filter(
      ({ id, final }) => final && gaps.some((gap) => gap.signature === id && gap.final),
    ),
    tips: tips.length,
    unread,
    next: tips.length === pageSize ? tips.at(-1)?.id : undefined,
  }
}

/** The final gaps by transaction. None of them is new, so that a difference between the endpoints is an alarm. */
function paymentsOf(gaps: readonly CreditGap[]) {
  const signatures = new Set(gaps.filter(({ final }) => final).map(({ signature }) => signature))
  return [...signatures].map((signature) => {
    const ofTransaction = gaps.filter((gap) => gap.signature === signature)
    const credits = new Map(ofTransaction.map(({ wallet, micro }) => [wallet, micro]))
    return { signature, credits, ageMs: Number.POSITIVE_INFINITY }
  })
}

/** The tips whose transactions have landed and succeeded. Those of pending tips may never have landed. */
async function readChain(
  { chain }: Pick<Services, 'chain'>,
  tips: readonly TipRow[],
): Promise<{ found: FoundTip[]; unread: number }> {
  const pending = tips.filter(({ status }) => status === 'pending')
  const statuses = await chain.statuses(pending.map(({ id }) => id))
  const landed = tips.filter(({ id, status }) => status === 'confirmed' || isLanded(statuses.get(id)))
  const transactions = await chain.transactions(landed.map(({ id }) => id))
  const found = landed.flatMap((tip): FoundTip[] => {
    const transaction = transactions.get(tip.id)
    if (transaction === undefined || transaction.failed) return []
    return [{ tip, transaction, final: tip.final || isFinalized(statuses.get(tip.id), transaction) }]
  })
  const unanswered = pending.filter(({ id }) => !statuses.has(id))
  const missing = landed.filter(({ id }) => !transactions.has(id))
  return { found, unread: unanswered.length + missing.length }
}

/** Confirmed tips, and those that the verifier has given up. */
function readTips(db: Knex, days: number, after: TipPosition | undefined): Promise<TipRow[]> {
  return query<TipRow>(db, {
    name: 'tips.uncredited-page',
    text: /* sql */ `
      select t.id, t.status, coalesce(t.paid_wallet, p.wallet) as recipient, t.finalized_at is not null as final, ${claimsSql}
      from tips t left join parties p on p.id = t.recipient_party
      where t.id > $2 and t.kind = 'chain' and t.main_id is null and coalesce(t.confirmed_at, t.recorded_at) >= now() - $1 * interval '1 day'
        and (t.status = 'confirmed' or (t.status = 'pending' and t.due_at is null and t.outcome is distinct from 'tx_failed'))
      order by t.id limit ${pageSize}`,
    values: [days, after ?? ''],
  })
}
