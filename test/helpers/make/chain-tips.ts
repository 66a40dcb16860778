import { faucetOf, requestAirdrop } from '../../../scripts/sandbox/chain/faucet.js'
import type { Sandbox } from '../../../scripts/sandbox/server.js'

/** What a client posts to `/chain/tips/create`. */
export interface TipClaim {
  readonly creatorWallet: string
  readonly senderWallet: string
  readonly tipAmount: number
  readonly txSignature: string
  readonly message?: string
}

/** A tenth of a SOL: far above the rent a new account must hold. */
const lamports = 100_000_000

/** Pays a wallet on the local chain. Returns what its client then posts. */
export function payTip({ chain }: Sandbox, creatorWallet: string): TipClaim {
  const txSignature = requestAirdrop(chain, creatorWallet, BigInt(lamports))
  const senderWallet = faucetOf(chain).publicKey.toBase58()
  return { creatorWallet, senderWallet, tipAmount: lamports, txSignature }
}

export interface PostAnswer {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
  readonly ms: number
}

/** Posts a claim as a client would, on a connection of its own. Rejects when the connection breaks. */
export async function postTip(url: string, claim: TipClaim): Promise<PostAnswer> {
  const startedAt = performance.now()
  const response = await fetch(`${url}/chain/tips/create`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', connection: 'close' },
    body: JSON.stringify(claim),
    signal: AbortSignal.timeout(15_000),
  })
  const body = (await response.json()) as PostAnswer['body']
  return { status: response.status, body, ms: performance.now() - startedAt }
}
