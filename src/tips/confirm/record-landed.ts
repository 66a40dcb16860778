import type { Knex } from 'knex'
import { type Token, tokens } from '../../kernel/tokens.js'
import { query } from '../../platform/database/database.js'
import type { ChainTransaction } from '../../ports/chain.js'
import { claimFromPayment, type SignedClaim, signedClaimColumns } from '../record/claim.js'
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
  const first = new Map<string, LandedPayment>()
  for (const payment of payments) if (!first.has(payment.signature)) first.set(payment.signature, payment)
  const ordered = [...first.values()].sort((a, b) => (a.signature < b.signature ? -1 : 1))
  const rows = await query<{ id: string }>(trx, {
    name: 'tips.record-landed',
    text: /* sql */ `
      insert into tips (id, kind, creator_wallet, sender, amount, token_symbol, message, claimed_intent_id, claim_hash, request_id, due_at)
      select id, 'chain', creator_wallet, sender, amount, token_symbol, message, intent_id, hash, request_id,
        case when coalesce(landed_at, now()) > now() - $11 * interval '1 hour' then clock_timestamp() end
      from unnest($1::text[], $2::text[], $3::text[], $4::numeric[], $5::text[], $6::text[], $7::text[], $8::bytea[], $9::uuid[], $10::timestamptz[])
        as f(id, creator_wallet, sender, amount, token_symbol, message, intent_id, hash, request_id, landed_at)
      on conflict (id) do nothing returning id`,
    values: [
      ...signedClaimColumns(ordered.map(claimOf)),
      ordered.map(({ blockTime }) => blockTime ?? null),
      claimWindowHours,
    ],
  })
  return rows.map(({ id }) => id)
}

function claimOf({ signature, wallet, sender, token, received }: LandedPayment): SignedClaim {
  const claim = { creatorWallet: wallet, sender, tokenSymbol: token.symbol, intentId: null }
  return claimFromPayment({ signature, units: received, ...claim })
}
