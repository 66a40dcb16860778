import { internWallets } from '../../src/accounts/wallets/intern-parties.js'
import { newReferenceKey } from '../../src/intents/unsigned-transaction.js'
import { newIntentId } from '../../src/kernel/ids.js'
import type { Token } from '../../src/kernel/tokens.js'
import type { World } from '../helpers/servers/world.js'

export interface SwapPlan {
  readonly sender: string
  readonly recipient: string
  readonly input: Token
  readonly output: Token
  /** Base units of input and output. */
  readonly units: number
  /** The hash of the message, when the transaction contains no reference key. */
  readonly messageHash?: Buffer
}

/** Inserts a payment intent of a swap as the service stores it. */
export async function insertSwapIntent(
  { db }: World,
  plan: SwapPlan,
): Promise<{ id: string; referenceKey: string }> {
  const id = newIntentId()
  const referenceKey = newReferenceKey()
  const parties = await internWallets(db, [plan.recipient])
  await db('payment_intents').insert({
    id,
    recipient_party: parties.get(plan.recipient),
    payout_wallet: plan.recipient,
    source_wallet: plan.sender,
    input_mint: plan.input.mint,
    input_raw: plan.units,
    output_mint: plan.output.mint,
    expected_raw: plan.units,
    least_raw: (BigInt(plan.units) * 9n) / 10n || 1n,
    fee_raw: 0,
    amount_usd_cents: 100,
    token_symbol: plan.input.symbol,
    provider: plan.messageHash === undefined ? 'aggregator-v6' : 'aggregator-ultra',
    execution_mode: 'sync',
    reference_key: plan.messageHash === undefined ? referenceKey : null,
    message_hash: plan.messageHash ?? null,
    transaction: Buffer.alloc(1),
    last_valid_block_height: 1,
  })
  return { id, referenceKey }
}
