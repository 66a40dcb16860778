import { faucetOf, requestAirdrop } from '../../../scripts/sandbox/chain/faucet.js'
import type { Sandbox } from '../../../scripts/sandbox/server.js'
import type { World } from '../servers/world.js'
import { solTransfer } from './instructions.js'
import { untilConfirmedOnChain } from './intents.js'
import { createSupporter, unusedWallet } from './supporter.js'
import { recordTip } from './tips.js'

/** What a client posts to `/chain/tips/create`. */
export interface TipClaim {
  readonly creatorWallet: string
  readonly senderWallet: string
  readonly tipAmount: number
  readonly txSignature: string
  readonly message?: string
}

/** 0.1 SOL, far above the rent that a new account must hold. */
const lamports = 100_000_000

/** Pays a wallet on the local chain. Returns the claim its client then posts. */
export function payOnChain({ chain }: Sandbox, creatorWallet: string): TipClaim {
  const txSignature = requestAirdrop(chain, creatorWallet, BigInt(lamports))
  const senderWallet = faucetOf(chain).publicKey.toBase58()
  return { creatorWallet, senderWallet, tipAmount: lamports, txSignature }
}

export interface PostAnswer {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
  readonly ms: number
}

/** Posts a claim on a new connection. Rejects when the connection breaks. */
export async function postClaim(url: string, claim: TipClaim): Promise<PostAnswer> {
  const startedAt = performance.now()
  const response = await fetch(`${url}/chain/tips/create`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', connection: 'close' },
    body: JSON.stringify(claim),
    signal: AbortSignal.timeout(60_000),
  })
  const body = (await response.json()) as PostAnswer['body']
  return { status: response.status, body, ms: performance.now() - startedAt }
}

/** Creates recorded tips whose transactions the chain has confirmed, to the recipients in turn. Returns their signatures. */
export async function createRecordedTips(
  world: World,
  count: number,
  recipients?: readonly string[],
): Promise<string[]> {
  const supporter = createSupporter(world.sandbox)
  const claims = Array.from({ length: count }, (_, index) => {
    const creatorWallet = recipients?.[index % recipients.length] ?? unusedWallet()
    // Amounts differ: two equal transfers in one slot would be one transaction.
    const lamports = 2_000_000 + index
    const txSignature = supporter.send([solTransfer(supporter.wallet, creatorWallet, lamports)])
    return { creatorWallet, senderWallet: supporter.wallet, tipAmount: lamports, txSignature }
  })
  const signatures = claims.map(({ txSignature }) => txSignature)
  await untilConfirmedOnChain(world, signatures)
  await Promise.all(claims.map((claim) => recordTip(world, claim)))
  return signatures
}

/** The signatures among these whose tips are not confirmed. */
export async function listUnconfirmed({ db }: World, signatures: readonly string[]): Promise<string[]> {
  const rows = await db('tips').whereIn('id', signatures).whereNot({ status: 'confirmed' }).select('id')
  return rows.map(({ id }) => id)
}
