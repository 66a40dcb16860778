import { z } from 'zod'
import { encodeBase58 } from '../../kernel/base58.js'
import { solMint } from '../../kernel/tokens.js'
import type { AccountState, TokenHolding, WalletAccount } from '../../ports/chain.js'
import type { TokenSource } from '../../ports/custody-chain.js'
import { associatedAccount } from './build-transfer.js'
import { documented, type JsonRpc } from './json-rpc.js'

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

export type AccountReply = z.output<typeof accountReply>

/** The accounts in the order of the addresses, of which there are at most 100. */
export async function readAccounts(
  rpc: JsonRpc,
  addresses: readonly string[],
  commitment: 'confirmed' | 'finalized' = 'confirmed',
): Promise<AccountReply[]> {
  const reply = z.object({ value: z.array(accountReply).length(addresses.length) })
  const how = { commitment, encoding: 'base64' }
  const { value } = await rpc.call('getMultipleAccounts', [addresses, how], documented(reply))
  return value
}

/** Undefined where there is no account. An account without lamports is about to be deleted. */
export function accountState(reply: AccountReply | undefined): AccountState | undefined {
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

/** A wallet's associated account of a token; for SOL the wallet and its account of wrapped SOL. */
function addressesOf({ wallet, mint }: WalletAccount): string[] {
  const associated = associatedAccount(wallet, mint)
  return mint === solMint ? [wallet, associated] : [associated]
}

/** The addresses of accounts, and what replies about these addresses say of each account. */
export function holdingsOf(accounts: readonly WalletAccount[]): {
  readonly addresses: readonly string[]
  read(replies: readonly AccountReply[]): TokenSource[]
} {
  const addresses = accounts.flatMap(addressesOf)
  return {
    addresses,
    read(replies) {
      const rest = [...replies]
      return accounts.map((account) => sourceOf(account, rest.splice(0, account.mint === solMint ? 2 : 1)))
    },
  }
}

function sourceOf(account: WalletAccount, replies: readonly AccountReply[]): TokenSource {
  const [first, second] = replies.map(accountState)
  if (account.mint !== solMint) return tokensOf(account, first)
  const own = first?.lamports ?? 0n
  if (second === undefined || tokensOf(account, second).fault !== undefined)
    return { amount: own, fault: undefined }
  return { amount: own + second.lamports, fault: undefined, wrapped: true }
}

function tokensOf({ wallet, mint }: WalletAccount, state: AccountState | undefined): TokenSource {
  if (state === undefined) return { amount: 0n, fault: 'closed' }
  const { holding, program } = state
  if (holding === undefined || program !== tokenProgram || holding.owner !== wallet || holding.mint !== mint)
    return { amount: 0n, fault: 'foreign' }
  return { amount: holding.amount, fault: holding.frozen ? 'frozen' : undefined }
}
