import { z } from 'zod'
import { ProviderError } from '../../kernel/provider-error.js'
import type { Blockhash, SignatureStatus } from '../../ports/chain.js'
import type { CustodyChain, Fate, Submission } from '../../ports/custody-chain.js'
import { type AccountReply, holdingsOf, readAccounts } from './account-state.js'
import { readBlockhash } from './blockhash.js'
import { assemble, buildMessage, readMessage, sizeOf, unsigned } from './custody-message.js'
import { readSignaturesNaming } from './find-signatures.js'
import { createJsonRpc, documented, type JsonRpc, type JsonRpcOptions } from './json-rpc.js'
import { readEveryStatus, readStatuses } from './statuses.js'

const heightReply = z.int().nonnegative()
/** Blocks in which a blockhash counts. */
const blockhashLifetime = 150
/** Addresses of one `getMultipleAccounts`. */
const maxAddresses = 100
/** Signatures of one `getSignatureStatuses`. */
const maxSignatures = 256

export function createCustodyChain(options: JsonRpcOptions): CustodyChain {
  const rpc = createJsonRpc(options)
  return {
    buildMessage,
    readMessage,
    sizeOf,
    assemble,
    unsigned,
    freshBlockhash: () =>
      options.urls.length > 1 ? readCheckedBlockhash(rpc) : readBlockhash(rpc, 'confirmed'),
    async readSources(sources, commitment) {
      const { addresses, read } = holdingsOf(sources)
      const replies: AccountReply[] = []
      for (let at = 0; at < addresses.length; at += maxAddresses)
        replies.push(...(await readAccounts(rpc, addresses.slice(at, at + maxAddresses), commitment)))
      return read(replies)
    },
    async fates(submissions) {
      const fates: Fate[] = []
      for (let at = 0; at < submissions.length; at += maxSignatures)
        fates.push(...(await readFates(rpc, submissions.slice(at, at + maxSignatures))))
      return fates
    },
    async signaturesNaming(key) {
      const found = await rpc.askAll((endpoint) => readSignaturesNaming(endpoint, key))
      // Of each what it shows: one endpoint could fill a common list and hide what another shows.
      const signatures = [...new Set(found.flatMap((one) => one.signatures))]
      return { signatures, whole: found.every(({ whole }) => whole) }
    },
  }
}

/**
 * A blockhash with the last height at which it counts by any endpoint. With one that is too low a transaction would be held for
 * expired while it can still land; with one that is too high its money would never be given back.
 */
async function readCheckedBlockhash(rpc: JsonRpc): Promise<Blockhash> {
  const { blockhash, lastValidBlockHeight } = await readBlockhash(rpc, 'confirmed')
  // Read afterwards: the blockhash was made at this height or before.
  const heights = await rpc.callAll('getBlockHeight', [{ commitment: 'confirmed' }], documented(heightReply))
  const ends = [lastValidBlockHeight, ...heights.map((height) => height + blockhashLifetime)]
  const last = Math.max(...ends)
  if (last - Math.min(...ends) > blockhashLifetime)
    throw new ProviderError('unavailable', 'the RPC endpoints are at different heights')
  return { blockhash, lastValidBlockHeight: last }
}

/** What is final is believed of one endpoint, as of tips. That something failed or is gone needs all of them. */
async function readFates(rpc: JsonRpc, submissions: readonly Submission[]): Promise<Fate[]> {
  const signatures = submissions.flatMap(({ signature }) => signature ?? [])
  const first = await readStatuses(rpc, signatures)
  const isFinal = ({ signature = '' }: Submission): boolean => {
    const status = first.get(signature)
    return status?.commitment === 'finalized' && !status.failed
  }
  const ends = await readEnds(
    rpc,
    submissions.filter((one) => !isFinal(one)),
  ).catch((error: unknown) => {
    if (error instanceof ProviderError) return new Map<Submission, Fate>()
    throw error
  })
  return submissions.map((one) => (isFinal(one) ? { kind: 'final' } : (ends.get(one) ?? { kind: 'open' })))
}

/**
 * The heights are read before the statuses: a transaction that an endpoint does not know after its finalized height has passed
 * the last valid one cannot land there any more.
 */
async function readEnds(rpc: JsonRpc, submissions: readonly Submission[]): Promise<Map<Submission, Fate>> {
  if (submissions.length === 0) return new Map()
  const heights = await rpc.callAll('getBlockHeight', [{ commitment: 'finalized' }], documented(heightReply))
  const signatures = submissions.flatMap(({ signature }) => signature ?? [])
  const endpoints = await readEveryStatus(rpc, signatures)
  const ends = new Map<Submission, Fate>()
  for (const one of submissions) {
    const { signature, lastValidHeight } = one
    const seen = signature === undefined ? [] : endpoints.map((statuses) => statuses.get(signature))
    const expired = heights.every((height) => height > lastValidHeight)
    ends.set(one, fateOf(seen, expired ? heights.length : 0))
  }
  return ends
}

/** `seen`: what each endpoint says. `expired`: at how many it can no longer land; 0 unless at all. */
function fateOf(seen: readonly (SignatureStatus | undefined)[], expired: number): Fate {
  const finalized = seen.filter((status) => status?.commitment === 'finalized')
  const unknown = seen.filter((status) => status === undefined || status.commitment === 'none')
  if (finalized.some((status) => !status?.failed)) return { kind: 'final' }
  if (seen.length > 0 && finalized.length === seen.length) return { kind: 'failed' }
  // By each endpoint it moved nothing, though they may not agree why.
  if (expired > 0 && finalized.length + unknown.length === seen.length)
    return { kind: 'gone', endpoints: expired }
  return { kind: 'open' }
}
