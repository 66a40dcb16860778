import { z } from 'zod'
import { blockhashLifetime, type Commitment } from '../clock.js'
import type { LocalChain } from '../local-chain.js'
import {
  apiVersion,
  commitmentConfig,
  count,
  method,
  type RpcMethod,
  requestedCommitment,
  valueMethod,
} from './params.js'

const accountBytesMax = 10 * 1024 * 1024

/** A blockhash of this commitment and the last block height at which it is valid. */
export function latestBlockhash({ clock }: LocalChain, commitment: Commitment) {
  const slot = clock.slotAt(commitment)
  return { blockhash: clock.hashOf(slot), lastValidBlockHeight: slot + blockhashLifetime }
}

export function clusterMethods(chain: LocalChain): Record<string, RpcMethod> {
  const { clock } = chain
  const none = z.tuple([]).rest(z.unknown())
  const options = z.tuple([commitmentConfig.optional()])
  const slotOf = method(options, (given) => clock.slotAt(requestedCommitment(given)))
  return {
    getHealth: method(none, () => 'ok'),
    getVersion: method(none, () => ({ 'solana-core': apiVersion, 'feature-set': 0 })),
    getGenesisHash: method(none, () => clock.genesisHash),
    getRecentPrioritizationFees: method(none, () => [{ slot: clock.slot, prioritizationFee: 0 }]),
    getSlot: slotOf,
    getBlockHeight: slotOf,
    getBlockTime: method(z.tuple([count]), (slot) => clock.blockTime(slot)),
    getLatestBlockhash: valueMethod(chain, options, (given) =>
      latestBlockhash(chain, requestedCommitment(given)),
    ),
    isBlockhashValid: valueMethod(
      chain,
      z.tuple([z.string(), commitmentConfig.optional()]),
      (hash) => clock.slotOfRecentHash(hash) !== undefined,
    ),
    getMinimumBalanceForRentExemption: method(
      z.tuple([count.max(accountBytesMax), commitmentConfig.optional()]),
      (bytes) => Number(chain.svm.rentExempt(bytes)),
    ),
  }
}
