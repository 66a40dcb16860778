import { z } from 'zod'
import { encodeBase58 } from '../../kernel/base58.js'
import { solMint } from '../../kernel/tokens.js'
import type { AccountState, TokenHolding, WalletAccount } from '../../ports/chain.js'
import type { TokenSource } from '../../ports/custody-chain.js'
import { associatedAccount } from './build-transfer.js'
import { documented, type JsonRpc } from './json-rpc.js'

/** The classic token program. */
export const tokenProgram = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'
export const tokenPrograms: ReadonlySet<string> = new Set([
  tokenProgram,
  'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb',
])

// Byte layout of a token account (spl-token, state.rs). Token-2022 appends its extensions.
const tokenBytes = 165
const mintAt = 0
const ownerAt = 32
const amountAt = 64
const delegateAt = 72
const stateAt = 108
const frozenState = 2
const nativeAt = 109
const delegatedAt = 121

/** An account as the RPC returns it with encoding `base64`. */
export const accountReply = z
  .object({ lamports: z.number(), owner: z.string(), data: z.tuple([z.string(), z.string()]) })
  .nullable()

const accountsReply = z.object({ value: z.array(accountReply) })

/** The current accounts (commitment `confirmed`), in the order of the addresses. At most 100 addresses. */
export async function readAccounts(
  rpc: JsonRpc,
  addresses: readonly string[],
): Promise<z.output<typeof accountReply>[]> {
  const how = { commitment: 'confirmed', encoding: 'base64' }
  const { value } = await rpc.call('getMultipleAccounts', [addresses, how], documented(accountsReply))
  return value
}

/** Undefined where there is no account. An account without lamports is about to be deleted. */
export function accountState(reply: z.output<typeof accountReply> | undefined): AccountState | undefined {
  if (reply == null || reply.lamports === 0) return undefined
  const { lamports, owner: program, data } = reply
  return { lamports: BigInt(lamports), program, holding: holdingIn(program, Buffer.from(data[0], 'base64')) }
}

function holdingIn(program: string, data: Buffer): TokenHolding | undefined {
  if (!tokenPrograms.has(program) || data.length < tokenBytes || data[stateAt] === 0) return undefined
  return {
    mint: encodeBase58(data.subarray(mintAt, ownerAt)),
    owner: encodeBase58(data.subarray(ownerAt, amountAt)),
    amount: data.readBigUInt64LE(amountAt),
    frozen: data[stateAt] === frozenState,
    controls: Buffer.concat([
      data.subarray(delegateAt, nativeAt),
      data.subarray(delegatedAt, tokenBytes),
    ]).toString('hex'),
  }
}

/** The address of a wallet's associated account of a token; the wallet's own for SOL. */
export function addressOf({ wallet, mint }: WalletAccount): string {
  return mint === solMint ? wallet : associatedAccount(wallet, mint)
}

/** What the account at that address holds for the wallet. */
export function sourceOf(
  { wallet, mint }: WalletAccount,
  reply: z.output<typeof accountReply> | undefined,
): TokenSource {
  const state = accountState(reply)
  if (mint === solMint) return { amount: state?.lamports ?? 0n, fault: undefined }
  if (state === undefined) return { amount: 0n, fault: 'closed' }
  const { holding, program } = state
  if (holding === undefined || program !== tokenProgram || holding.owner !== wallet || holding.mint !== mint)
    return { amount: 0n, fault: 'foreign' }
  return { amount: holding.amount, fault: holding.frozen ? 'frozen' : undefined }
}
