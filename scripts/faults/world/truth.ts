import { usdc } from '../../../src/kernel/tokens.js'
import type { WithdrawalAnswer } from '../../kit/client.js'
import type { LedgerRecord } from '../../sandbox/chain/ledger.js'
import type { Dispute } from '../../sandbox/fiatpay/records.js'
import type { WorldCreator } from './people.js'
import type { Stage } from './stage.js'

/** What people did outside the service. */
export interface Truth {
  /** Crypto tips that landed, by signature: micro-USDC that came into the creator's custody wallet. */
  readonly landed: Map<string, { readonly userId: string; readonly micro: bigint }>
  /** Crypto tips that are not in the ledger yet. Some land later, and others never. */
  waiting: SubmittedTip[]
  /** Micro-USDC of tips' fees that came into the treasury, and how much of it is recorded. */
  fees: { arrived: bigint; recorded: bigint }
  /** Micro-USDC that somebody sent to a custody wallet directly, by signature. */
  readonly deposits: Map<string, { readonly userId: string; readonly wallet: string; readonly micro: bigint }>
  /** Intents that were paid and not reported. */
  readonly unreported: string[]
  /** What supporters have reported, and was answered 200. */
  readonly claims: { readonly txSignature: string }[]
  /** The final answers to withdrawals. */
  readonly withdrawals: (WithdrawalAnswer & { readonly userId: string })[]
  /** Naira tips, by intent. */
  readonly naira: Map<string, { readonly userId: string; readonly payerEmail: string }>
  /** Naira tips that were paid in full and that nobody has given back or disputed. */
  readonly returnable: PaidTip[]
  /** Refunds of tips that were answered 200. */
  readonly refunds: string[]
  readonly disputes: OpenedDispute[]
  /** Acts by their kind and outcome. */
  readonly counts: Record<string, number>
}

interface SubmittedTip {
  readonly txSignature: string
  readonly creator: WorldCreator
}

export interface PaidTip {
  readonly intentId: string
  readonly creator: WorldCreator
}

interface OpenedDispute {
  readonly id: Dispute['id']
  /** When the bank decides. */
  readonly day: number
  readonly outcome: 'won' | 'lost'
}

export function emptyTruth(): Truth {
  return {
    landed: new Map(),
    waiting: [],
    fees: { arrived: 0n, recorded: 0n },
    deposits: new Map(),
    unreported: [],
    claims: [],
    withdrawals: [],
    naira: new Map(),
    returnable: [],
    refunds: [],
    disputes: [],
    counts: {},
  }
}

/** Notes what a transaction brought when it is in the ledger of the chain. Returns whether it is, also when it has failed. */
export function noteLanded(
  { sandbox: { chain }, treasury }: Pick<Stage, 'sandbox' | 'treasury'>,
  truth: Truth,
  { txSignature, creator: { userId, wallet } }: SubmittedTip,
): boolean {
  const record = chain.ledger.get(txSignature)
  if (record === undefined || record.meta.err !== null) return record !== undefined
  truth.landed.set(txSignature, { userId, micro: broughtTo(record, wallet) })
  truth.fees.arrived += broughtTo(record, treasury.publicKey.toBase58())
  return true
}

/** Micro-USDC that a transaction brought to a wallet. Below zero: took. */
function broughtTo({ meta }: LedgerRecord, wallet: string): bigint {
  const sum = (balances: LedgerRecord['meta']['preTokenBalances']): bigint =>
    balances
      .filter(({ owner, mint }) => owner === wallet && mint === usdc.mint)
      .reduce((total, { uiTokenAmount }) => total + BigInt(uiTokenAmount.amount), 0n)
  return sum(meta.postTokenBalances) - sum(meta.preTokenBalances)
}
