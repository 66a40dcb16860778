import { z } from 'zod'
import { blockhashLifetime, type Commitment } from '../clock.js'
import type { LocalChain } from '../local-chain.js'
import { commitmentConfig, count, method, type RpcMethod, requestedCommitment } from './params.js'

const apiVersion = '2.3.0'
const accountBytesMax = 10 * 1024 * 1024

/** A value with the slot it was read at. */
export function withContext(chain: LocalChain, commitment: Commitment, value: unknown) {
  return { context: { apiVersion, slot: chain.clock.slotAt(commitment) }, value }
}

/** A blockhash of this commitment and the last block height at which it is valid. */
export function latestBlockhash(chain: LocalChain, commitment: Commitment) {
  const slot = chain.clock.slotAt(commitment)
  return { blockhash: chain.clock.hashOf(slot), lastValidBlockHeight: slot + blockhashLifetime }
}

/** JSON-RPC methods about the cluster, its slots and blockhashes. */
export function clusterMethods(chain: LocalChain): Record<string, RpcMethod> {
  const none = z.tuple([]).rest(z.unknown())
  const slotOf = method(z.tuple([commitmentConfig.optional()]), (options = {}) =>
    chain.clock.slotAt(requestedCommitment(options)),
  )
  return {
    getHealth: method(none, () => 'ok'),
    getVersion: method(none, () => ({ 'solana-core': apiVersion, 'feature-set': 0 })),
    getGenesisHash: method(none, () => chain.clock.genesisHash),
    getRecentPrioritizationFees: method(none, () => [{ slot: chain.clock.slot, prioritizationFee: 0 }]),
    getSlot: slotOf,
    getBlockHeight: slotOf,
    getBlockTime: method(z.tuple([count]), (slot) => chain.clock.blockTime(slot)),
    getLatestBlockhash: method(z.tuple([commitmentConfig.optional()]), (options = {}) =>
      withContext(chain, requestedCommitment(options), latestBlockhash(chain, requestedCommitment(options))),
    ),
    isBlockhashValid: method(z.tuple([z.string(), commitmentConfig.optional()]), (hash, options = {}) =>
      withContext(chain, requestedCommitment(options), chain.clock.slotOfRecentHash(hash) !== undefined),
    ),
    getMinimumBalanceForRentExemption: method(
      z.tuple([count.max(accountBytesMax), commitmentConfig.optional()]),
      (bytes) => Number(chain.svm.rentExempt(bytes)),
    ),
  }
}
