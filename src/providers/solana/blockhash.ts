import { z } from 'zod'
import type { Blockhash } from '../../ports/chain.js'
import { documented, type JsonRpc } from './json-rpc.js'

const reply = z.object({
  value: z.object({ blockhash: z.string(), lastValidBlockHeight: z.number() }),
})

export async function readBlockhash(rpc: JsonRpc, commitment: 'confirmed' | 'finalized'): Promise<Blockhash> {
  return (await rpc.call('getLatestBlockhash', [{ commitment }], documented(reply))).value
}
