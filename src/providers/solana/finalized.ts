import { z } from 'zod'
import { least, most } from '../../kernel/money.js'
import { ProviderError } from '../../kernel/provider-error.js'
import type { ChainTransaction, FinalizedHoldings, WalletAccount } from '../../ports/chain.js'
import { accountReply, holdingsOf } from './account-state.js'
import { type BatchSize, inAdaptiveBatches } from './adaptive-batching.js'
import { decodeTransaction } from './decode-transaction.js'
import { documented, type JsonRpc } from './json-rpc.js'

/** Signatures of which every endpoint is asked at once. */
const concurrency = 4
/** After so many without an answer the others wait for the next check: an endpoint that hangs takes ten seconds for each. */
const mostUnanswered = 4

export async function readFinalizedEverywhere(
  rpc: JsonRpc,
  signatures: readonly string[],
): Promise<Map<string, readonly (ChainTransaction | undefined)[]>> {
  const how = { commitment: 'finalized', encoding: 'base64', maxSupportedTransactionVersion: 1 }
  const found = new Map<string, readonly (ChainTransaction | undefined)[]>()
  const waiting = [...signatures]
  let unanswered = 0
  async function readNext(): Promise<void> {
    while (unanswered < mostUnanswered) {
      const wanted = waiting.shift()
      if (wanted === undefined) return
      const replies = await rpc
        .callAll('getTransaction', [wanted, how], (result) => decodeTransaction(wanted, result))
        .catch(undefinedWithoutAnswer)
      if (replies === undefined) unanswered += 1
      else found.set(wanted, replies)
    }
  }
  await Promise.all(Array.from({ length: concurrency }, readNext))
  return found
}

function undefinedWithoutAnswer(error: unknown): undefined {
  if (error instanceof ProviderError) return undefined
  throw error
}

const holdingsReply = z.object({
  context: z.object({ slot: z.int().nonnegative() }),
  value: z.array(accountReply),
})

interface Holding {
  readonly index: number
  readonly slot: bigint
  readonly newestSlot: bigint
  readonly amount: bigint
}

export async function readHoldings(
  rpc: JsonRpc,
  size: BatchSize,
  accounts: readonly WalletAccount[],
  minSlot: bigint,
): Promise<FinalizedHoldings> {
  const asked = accounts.map((account, index) => ({ ...account, index }))
  const holdings = await inAdaptiveBatches(asked, size, (batch) => readBatch(rpc, batch, minSlot))
  if (holdings.length !== accounts.length)
    throw new ProviderError(
      'unavailable',
      `the RPC answered ${holdings.length} of ${accounts.length} accounts`,
    )
  const amounts = Array.from({ length: accounts.length }, () => 0n)
  for (const { index, amount } of holdings) amounts[index] = amount
  const [first = 0n, ...others] = holdings.map(({ slot }) => slot)
  return {
    slot: others.reduce(least, first),
    newestSlot: holdings.reduce((newest, one) => most(newest, one.newestSlot), 0n),
    amounts,
  }
}

async function readBatch(
  rpc: JsonRpc,
  batch: readonly (WalletAccount & { readonly index: number })[],
  minSlot: bigint,
): Promise<Holding[]> {
  const { addresses, read } = holdingsOf(batch)
  const how = { commitment: 'finalized', encoding: 'base64', minContextSlot: Number(minSlot) }
  const answers = await rpc.callAll('getMultipleAccounts', [addresses, how], (result) => {
    const { context, value } = documented(holdingsReply)(result)
    // Not every node follows `minContextSlot`.
    if (context.slot < Number(minSlot))
      throw new ProviderError('unavailable', `the node has finalized slot ${context.slot}, not ${minSlot}`)
    if (value.length !== addresses.length)
      throw new ProviderError('ambiguous', `the RPC answered ${value.length} of ${addresses.length} accounts`)
    const slot = BigInt(context.slot)
    return read(value).map(({ amount }, at) => ({
      index: batch[at]?.index ?? 0,
      slot,
      newestSlot: slot,
      amount,
    }))
  })
  return answers.reduce((lowest, shown) => lowest.map((one, at) => leastOf(one, shown[at] as Holding)))
}

/** One endpoint alone cannot show more than there is. */
function leastOf(one: Holding, other: Holding): Holding {
  return {
    index: one.index,
    slot: least(one.slot, other.slot),
    newestSlot: most(one.newestSlot, other.newestSlot),
    amount: least(one.amount, other.amount),
  }
}
