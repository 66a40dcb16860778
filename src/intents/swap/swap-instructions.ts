import { solMint } from '../../kernel/tokens.js'
import type { Instruction } from '../../ports/chain.js'

/** The program of both swap engines. The adapters exclude routers that use other programs. */
export const engineProgram = 'JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4'

export const systemProgram = '11111111111111111111111111111111'

const programs = {
  system: systemProgram,
  computeBudget: 'ComputeBudget111111111111111111111111111111',
  associatedToken: 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL',
  token: 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
  engine: engineProgram,
} as const

// First byte of a compute budget instruction, and the constants of the network fee.
const setUnitLimit = 2
const setUnitPrice = 3
const lamportsPerSignature = 5000n
const unitsPerInstruction = 200_000n
const microLamports = 1_000_000n

/** The first four bytes of a System transfer. */
const systemTransfer = 2
/** The highest first byte of an instruction of the associated token program that opens an account. */
const createIdempotent = 1
/** First bytes of the token program instructions that a swap needs: close an account, count lamports as wrapped SOL. */
const closeAccount = 9
const syncNative = 17

export interface SwapParties {
  readonly supporter: string
  readonly wrappedAccount: string
  readonly recipient: string
  readonly inputMint: string
}

/** Whether a swap must not contain this instruction, even if it is harmless now. */
export function isForbiddenInstruction(instruction: Instruction, parties: SwapParties): boolean {
  switch (instruction.program) {
    case programs.computeBudget:
    case programs.engine:
      return false
    case programs.associatedToken:
      return !opensAccount(instruction, parties)
    case programs.system:
      return !wrapsSol(instruction, parties)
    case programs.token:
      return !managesWrappedSol(instruction, parties)
    default:
      return true
  }
}

/** Whether the instruction passes this account to the swap program. Otherwise the swap cannot pay into it. */
export function paysInto({ program, accounts }: Instruction, account: string): boolean {
  return program === programs.engine && accounts.includes(account)
}

/** The network fee in lamports: one signature, plus the priority fee the instructions set, rounded up as the network does. */
export function networkFeeOf(instructions: readonly Instruction[]): bigint {
  let limit: bigint | undefined
  let price = 0n
  const budget = instructions.filter(({ program }) => program === programs.computeBudget)
  for (const { data } of budget) {
    const bytes = Buffer.from(data)
    if (bytes[0] === setUnitLimit && bytes.length >= 5) limit = BigInt(bytes.readUInt32LE(1))
    if (bytes[0] === setUnitPrice && bytes.length >= 9) price = bytes.readBigUInt64LE(1)
  }
  const units = limit ?? BigInt(instructions.length - budget.length) * unitsPerInstruction
  return lamportsPerSignature + (units * price + microLamports - 1n) / microLamports
}

/** A transfer of SOL into the supporter's own account of wrapped SOL. */
function wrapsSol(
  { accounts, data }: Instruction,
  { supporter, wrappedAccount, inputMint }: SwapParties,
): boolean {
  const [from, to] = accounts
  const bytes = Buffer.from(data)
  return (
    inputMint === solMint &&
    bytes.length === 12 &&
    bytes.readUInt32LE(0) === systemTransfer &&
    from === supporter &&
    to === wrappedAccount
  )
}

/** Opens a token account of the supporter or the recipient. */
function opensAccount({ accounts, data }: Instruction, { supporter, recipient }: SwapParties): boolean {
  const owner = accounts[2]
  return (
    (owner === supporter || owner === recipient) && data.length <= 1 && (data[0] ?? 0) <= createIdempotent
  )
}

/** Only the account of wrapped SOL may be closed, and only in favor of the supporter. */
function managesWrappedSol(
  { accounts, data }: Instruction,
  { supporter, wrappedAccount }: SwapParties,
): boolean {
  const [account, destination] = accounts
  if (data[0] === syncNative) return true
  return data[0] === closeAccount && account === wrappedAccount && destination === supporter
}
