import { encodeBase58 } from '../../../src/kernel/base58.js'
import { displayText } from '../../../src/kernel/money.js'
import type { Account } from './vm/svm.js'

export const tokenProgram = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'
export const token2022Program = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb'

export interface TokenAmount {
  readonly amount: string
  readonly decimals: number
  readonly uiAmount: number
  readonly uiAmountString: string
}

export interface TokenBalance {
  readonly accountIndex: number
  readonly mint: string
  readonly owner: string
  readonly programId: string
  readonly uiTokenAmount: TokenAmount
}

export interface TokenAccount {
  readonly mint: string
  readonly owner: string
  readonly programId: string
  readonly state: 'initialized' | 'frozen'
  readonly isNative: boolean
  readonly uiTokenAmount: TokenAmount
}

export interface Mint {
  readonly supply: bigint
  readonly decimals: number
  readonly isInitialized: boolean
  readonly mintAuthority: string | null
  readonly freezeAuthority: string | null
}

// Byte layout of the token program's accounts (spl-token's state.rs). Token-2022 appends a type byte and extensions.
const tokenAccountBytes = 165
const mintBytes = 82
const typeOffset = 165
const typeAccount = 2

export function isTokenProgram(program: string): boolean {
  return program === tokenProgram || program === token2022Program
}

/** Parses a token account. `undefined` when it is another kind of account. */
export function readTokenAccount(
  account: Account | undefined,
  mintOf: (mint: string) => Account | undefined,
): TokenAccount | undefined {
  if (!account || !isTokenProgram(account.owner) || account.data.length < tokenAccountBytes) return undefined
  const { data } = account
  const state = data[108]
  const extended = data.length > tokenAccountBytes
  if (!state || (extended && data[typeOffset] !== typeAccount)) return undefined
  const mint = encodeBase58(data.subarray(0, 32))
  const decimals = readMint(mintOf(mint))?.decimals
  if (decimals === undefined) return undefined
  return {
    mint,
    owner: encodeBase58(data.subarray(32, 64)),
    programId: account.owner,
    state: state === 2 ? 'frozen' : 'initialized',
    isNative: data.readUInt32LE(109) === 1,
    uiTokenAmount: tokenAmount(data.readBigUInt64LE(64), decimals),
  }
}

/** Parses a mint. `undefined` when it is another kind of account. */
export function readMint(account: Account | undefined): Mint | undefined {
  if (!account || !isTokenProgram(account.owner) || account.data.length < mintBytes) return undefined
  const { data } = account
  if (data.length === tokenAccountBytes) return undefined
  return {
    supply: data.readBigUInt64LE(36),
    decimals: data.readUInt8(44),
    isInitialized: data[45] === 1,
    mintAuthority: data.readUInt32LE(0) === 1 ? encodeBase58(data.subarray(4, 36)) : null,
    freezeAuthority: data.readUInt32LE(46) === 1 ? encodeBase58(data.subarray(50, 82)) : null,
  }
}

/** Base units with their display forms, in JSON-RPC format. */
export function tokenAmount(raw: bigint, decimals: number): TokenAmount {
  const uiAmountString = displayText(raw, decimals)
  return { amount: String(raw), decimals, uiAmount: Number(uiAmountString), uiAmountString }
}
