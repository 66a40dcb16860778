import { z } from 'zod'
import type { JsonRpc } from './json-rpc.js'

/** Transactions read per key. A reference key is normally in one; anybody may use it in more. */
const signaturesPerKey = 10

const signaturesReply = z.array(z.object({ signature: z.string(), err: z.unknown().optional() }))

/** See `Chain.signaturesFor`. */
export async function findSignatures(
  rpc: JsonRpc,
  keys: readonly string[],
): Promise<[string, readonly string[]][][]> {
  const how = { commitment: 'confirmed', limit: signaturesPerKey }
  const replies = await rpc.batch(
    keys.map((key) => ({ method: 'getSignaturesForAddress', params: [key, how] })),
  )
  return keys.map((key, index) => {
    const found = signaturesReply.safeParse(replies[index])
    if (!found.success) return []
    return [[key, found.data.filter(({ err }) => err == null).map(({ signature }) => signature)]]
  })
}
