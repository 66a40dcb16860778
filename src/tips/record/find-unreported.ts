import { type Token, tokenByMint } from '../../kernel/tokens.js'
import { query } from '../../platform/database/database.js'
import type { Batch } from '../../platform/worker/batch-loop.js'
import type { Services } from '../../services.js'
import { nextDueIn } from '../verify/tip-queue.js'
import { claimOf, type SignedClaim, signedClaimColumns } from './claim.js'
import { type DuePaymentIntent, finishIntents, type IntentSchedule, takeDueIntents } from './intent-queue.js'

type Needs = Pick<Services, 'db' | 'transact' | 'chain'>

/** The first search comes after 30 s (migration 0012); each waits as long again as the intent is old. */
const leastMs = 5000
/**
 * By then the message has long expired, also one that a wallet has made anew, and seven searches found nothing. Who
 * reports a payment later is still heard.
 */
const giveUpMs = 35 * 60_000

/**
 * One batch of the finder: open intents are looked up on the chain by their reference keys, and what is found is
 * recorded as if the supporter's client had reported it. The verifier then judges it like any other.
 */
export function createFinderBatch(services: Needs): Batch {
  const { db, chain } = services
  return async () => {
    const intents = await takeDueIntents(db)
    if (intents.length === 0) return { taken: 0, nextDueMs: await nextDueIn(db, 'payment_intents') }
    let failure: unknown
    const keys = intents.flatMap(({ referenceKey }) => referenceKey ?? [])
    const found = await chain.signaturesFor(keys).catch((error: unknown) => {
      failure = error
      return new Map<string, readonly string[]>()
    })
    await recordFound(services, intents, found)
    await finishIntents(
      db,
      intents.map((intent) => searchOf(intent, found)),
    )
    if (failure !== undefined) throw failure
    return { taken: intents.length }
  }
}

/** When an intent is searched for again. Confirmation of its tip ends the search too. */
function searchOf(
  { id, attempts, ageMs, referenceKey }: DuePaymentIntent,
  found: ReadonlyMap<string, readonly string[]>,
): IntentSchedule {
  // Without a key on the chain there is nothing to search by: only a report finds its payment.
  if (referenceKey === null) return { id, attempts, dueInMs: null }
  const answered = found.has(referenceKey)
  return { id, attempts, dueInMs: answered && ageMs > giveUpMs ? null : Math.max(leastMs, ageMs) }
}

/** Signatures that are known already are left as they are. */
async function recordFound(
  { transact }: Needs,
  intents: readonly DuePaymentIntent[],
  found: ReadonlyMap<string, readonly string[]>,
): Promise<void> {
  const claims = intents.flatMap((intent) =>
    (found.get(intent.referenceKey ?? '') ?? []).map((signature) => claimFor(intent, signature)),
  )
  if (claims.length === 0) return
  const inOrder = claims.toSorted((a, b) => (a.signature < b.signature ? -1 : 1))
  await transact(async ({ trx, wake }) => {
    await query(trx, {
      name: 'tips.record-found',
      text: /* sql */ `
        insert into tips (id, kind, creator_wallet, sender, amount, token_symbol, message, claimed_intent_id, claim_hash)
        select id, 'chain', creator_wallet, sender, amount, token_symbol, message, intent_id, hash
        from unnest($1::text[], $2::text[], $3::text[], $4::numeric[], $5::text[], $6::text[], $7::text[], $8::bytea[])
          as f(id, creator_wallet, sender, amount, token_symbol, message, intent_id, hash)
        on conflict (id) do nothing`,
      values: signedClaimColumns(inOrder),
    })
    wake('verifier')
  })
}

/** What the supporter's client would have said: the gross amount of a transfer, the token given. */
function claimFor(intent: DuePaymentIntent, signature: string): SignedClaim {
  const { symbol } = tokenByMint(intent.inputMint) as Token
  return claimOf({
    signature,
    creatorWallet: intent.payoutWallet,
    sender: intent.sourceWallet,
    units: BigInt(intent.inputRaw),
    tokenSymbol: symbol,
    intentId: intent.id,
  })
}
