import type { Knex } from 'knex'
import { type Token, tokenByMint, usdc } from '../../kernel/tokens.js'
import { findReserved } from '../../ledger/post-statement.js'
import { query } from '../../platform/database/database.js'
import type { Chain, ChainTransaction } from '../../ports/chain.js'
import type { Services } from '../../services.js'
import { amountReceived, creditsOf } from '../verify/balance-changes.js'
import type { DueTip } from '../verify/tip-queue.js'
import { creditKeys, type FurtherCredits } from './credit-tips.js'

type Needs = Pick<Services, 'db' | 'chain' | 'config' | 'metrics' | 'log'>

/** Endpoints are some slots apart. Only a difference that lasts is an alarm. */
const alarmAfterMs = 120_000
const microPerUsd = 1e6

/** A finalized transaction that is about to make money available. */
interface FinalCredit {
  readonly signature: string
  readonly micro: bigint
  /** How long it has been waiting. */
  readonly ageMs: number
  /** Whether an endpoint's transaction pays what is credited. */
  isSame(transaction: ChainTransaction): boolean
}

/** Whether a credit of so much needs the agreement of every endpoint (`AGREE_ABOVE_USD`). */
export function needsAgreement({ chain }: Needs['config'], micro: bigint): boolean {
  const { agreeAboveUsd, rpcUrls = [] } = chain
  return agreeAboveUsd !== undefined && rpcUrls.length > 1 && Number(micro) > agreeAboveUsd * microPerUsd
}

/**
 * The signatures whose credit must wait: it is above `AGREE_ABOVE_USD`, and not every endpoint shows the transaction finalized
 * with the same amounts. One endpoint that lies cannot create money then. An endpoint without an answer agrees to nothing.
 */
async function findDisputed(services: Needs, credits: readonly FinalCredit[]): Promise<Set<string>> {
  const large = credits.filter(({ micro }) => needsAgreement(services.config, micro))
  if (large.length === 0) return new Set()
  const { chain, config, metrics, log } = services
  const shown = await chain.finalizedEverywhere(large.map(({ signature }) => signature))
  const disputed = large.filter(({ signature, isSame }) => {
    const everywhere = shown.get(signature)
    return !everywhere?.every((one) => one !== undefined && !one.failed && isSame(one))
  })
  for (const { signature } of disputed.filter(({ ageMs }) => ageMs > alarmAfterMs)) {
    const agreeing = shown.get(signature)?.filter((one) => one !== undefined).length
    metrics.alerts.inc({ kind: 'rpc_disagrees' })
    log.error(
      { signature, endpoints: config.chain.rpcUrls?.length, agreeing: agreeing ?? null },
      'the RPC endpoints do not show the same of a finalized tip: its credit stays pending',
    )
  }
  return new Set(disputed.map(({ signature }) => signature))
}

/** The confirmed tips whose pending credits must wait. */
export async function findDisputedTips(services: Needs, tips: readonly DueTip[]): Promise<Set<string>> {
  const { db, chain, config } = services
  // With the setting unset this costs no query.
  if (tips.length === 0 || !needsAgreement(config, BigInt(Number.MAX_SAFE_INTEGER))) return new Set()
  const stored = await readStoredFacts(
    db,
    tips.map(({ id }) => id),
  )
  const reserved = await findReserved(db, stored.flatMap(creditKeys))
  const credited = new Map<string, bigint>()
  for (const { ref, amount } of reserved) credited.set(ref, (credited.get(ref) ?? 0n) + amount)
  const ageOf = new Map(tips.map(({ id, ageMs }) => [id, ageMs]))
  return findDisputed(
    services,
    stored.map((facts) => ({
      signature: facts.id,
      micro: credited.get(facts.id) ?? 0n,
      ageMs: ageOf.get(facts.id) ?? 0,
      isSame: (transaction) => isUnchanged(chain, facts, transaction),
    })),
  )
}

/** Micro-USDC by custody wallet. */
type Credits = ReadonlyMap<string, bigint>

/** Of transactions that are no tips but pay custody wallets: the signatures whose credit must wait. */
export function findDisputedPayments(
  services: Needs,
  payments: readonly { readonly signature: string; readonly credits: Credits; readonly ageMs: number }[],
): Promise<Set<string>> {
  const { chain, config } = services
  return findDisputed(
    services,
    payments.map(({ signature, credits, ageMs }) => ({
      signature,
      ageMs,
      micro: sumOf(credits),
      isSame: (transaction) => {
        const shown = creditsOf(chain, transaction, new Set(credits.keys()), config.tips.treasuryWallet)
        return (
          shown.size === credits.size && [...credits].every(([wallet, micro]) => shown.get(wallet) === micro)
        )
      },
    })),
  )
}

export function sumOf(credits: Credits): bigint {
  return [...credits.values()].reduce((sum, micro) => sum + micro, 0n)
}

/** What the chain showed of a tip at its confirmation. A transaction has one for each payee. */
export interface StoredFacts {
  readonly id: string
  readonly wallet: string
  readonly mint: string
  readonly received: string
  readonly furtherCredits: FurtherCredits | null
}

export function readStoredFacts(db: Knex, ids: readonly string[]): Promise<StoredFacts[]> {
  return query<StoredFacts>(db, {
    name: 'tips.stored-facts',
    text: `select coalesce(t.main_id, t.id) as id, coalesce(t.paid_wallet, p.wallet) as wallet, t.mint, t.received_raw as received, t.further_credits as "furtherCredits"
           from tips t join parties p on p.id = t.recipient_party where t.id = any($1::text[]) or t.main_id = any($1::text[])`,
    values: [ids],
  })
}

/** Whether the transaction still pays the recipient, and every other wallet that the tip credits, the same amounts. */
export function isUnchanged(
  chain: Pick<Chain, 'associatedAccount'>,
  { wallet, mint, received, furtherCredits }: StoredFacts,
  found: ChainTransaction | undefined,
): boolean {
  if (found?.failed !== false) return false
  const token = tokenByMint(mint) as Token
  return (
    amountReceived(chain, found, wallet, token) === BigInt(received) &&
    Object.entries(furtherCredits ?? {}).every(
      ([further, amount]) => amountReceived(chain, found, further, usdc) === BigInt(amount),
    )
  )
}
