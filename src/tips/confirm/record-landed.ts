import type { Knex } from 'knex'
import { type Token, tokens } from '../../kernel/tokens.js'
import type { ChainTransaction } from '../../ports/chain.js'
import { claimFromPayment, recordFound } from '../record/claim.js'
import { type AssociatedAccounts, amountReceived, debitsAny, findPayment } from '../verify/balance-changes.js'

export interface LandedPayment {
  readonly signature: string
  readonly wallet: string
  readonly userId: string
  readonly sender: string
  readonly token: Token
  readonly received: bigint
  readonly blockTime: Date | undefined
}

/**
 * What a transaction that no row knows brought to custody wallets, in listed tokens. Nothing when it takes from one: then it is a move
 * of our own. `owners`: the users of the custody wallets that it names.
 */
export function paymentsIn(
  chain: AssociatedAccounts,
  transaction: ChainTransaction,
  owners: ReadonlyMap<string, string>,
): LandedPayment[] {
  if (debitsAny(transaction, new Set(owners.keys()))) return []
  const { signature, signers, feePayer, blockTime } = transaction
  return [...owners].flatMap(([wallet, userId]) =>
    tokens.flatMap((token): LandedPayment[] => {
      const received = signers.has(wallet) ? 0n : amountReceived(chain, transaction, wallet, token)
      if (received <= 0n) return []
      const sender = findPayment(chain, transaction, wallet, token)?.sender ?? feePayer
      return [{ signature, wallet, userId, sender, token, received, blockTime }]
    }),
  )
}

/**
 * Records a claim for each transaction, as if a supporter's client had reported it, and the verifier checks it like any other. What is
 * older than a claim may be is left to `find-uncredited`. Returns the signatures that are new.
 */
export async function recordLanded(
  trx: Knex,
  payments: readonly LandedPayment[],
  claimWindowHours: number,
): Promise<string[]> {
  const first = new Map(payments.toReversed().map((payment) => [payment.signature, payment]))
  const claims = [...first.values()].map(({ signature, wallet, sender, token, received, blockTime }) => {
    const claim = { creatorWallet: wallet, sender, tokenSymbol: token.symbol, intentId: null }
    return { ...claimFromPayment({ signature, units: received, ...claim }), landedAt: blockTime }
  })
  return recordFound(trx, claims, claimWindowHours)
}
