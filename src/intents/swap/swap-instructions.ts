import { solMint } from '../../kernel/tokens.js'
import type { Instruction } from '../../ports/chain.js'

/** The program of both engines, as long as the routers with programs of their own are excluded. */
export const engineProgram = 'JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4'

/** What every wallet belongs to. */
export const systemProgram = '11111111111111111111111111111111'

const programs = {
  system: systemProgram,
  computeBudget: 'ComputeBudget111111111111111111111111111111',
  associatedToken: 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL',
  token: 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
  engine: engineProgram,
} as const

// First byte of a compute budget instruction, and its lamports.
const setUnitLimit = 2
const setUnitPrice = 3
const lamportsPerSignature = 5000n
const unitsPerInstruction = 200_000n
const microLamports = 1_000_000n

/** Four bytes: System transfer. */
const systemTransfer = 2
/** Highest first byte of the associated token program's instructions that open an account. */
const createIdempotent = 1
/** First byte of what a swap needs of the token program: close an account, take lamports as wrapped SOL. */
const closeAccount = 9
const syncNative = 17

export interface SwapParties {
  readonly supporter: string
  readonly wrappedAccount: string
  readonly recipient: string
  readonly inputMint: string
}

/** Whether an instruction has no business in a swap, whatever it would do now. */
export function strangeInstruction(instruction: Instruction, parties: SwapParties): boolean {
  switch (instruction.program) {
    case programs.computeBudget:
    case programs.engine:
      return false
    case programs.associatedToken:
      return !opensAccount(instruction, parties)
    case programs.system:
      return !wrapsSol(instruction, parties)
    case programs.token:
      return !housekeeps(instruction, parties)
    default:
      return true
  }
}

/** Whether the engine is told of this account: only then can the swap pay into it. */
export function pays({ program, accounts }: Instruction, account: string): boolean {
  return program === programs.engine && accounts.includes(account)
}

/** Lamports for one signature and the priority the instructions set (network rule: rounded up). */
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

/** Lamports on their way into the supporter's own account of wrapped SOL. */
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

/** A token account for one of the two: create, or create unless it is there. */
function opensAccount({ accounts, data }: Instruction, { supporter, recipient }: SwapParties): boolean {
  const owner = accounts[2]
  return (
    (owner === supporter || owner === recipient) && data.length <= 1 && (data[0] ?? 0) <= createIdempotent
  )
}

/** Only the account of wrapped SOL is closed, and what is in it goes back to the supporter. */
function housekeeps({ accounts, data }: Instruction, { supporter, wrappedAccount }: SwapParties): boolean {
  const [account, destination] = accounts
  if (data[0] === syncNative) return true
  return data[0] === closeAccount && account === wrappedAccount && destination === supporter
}
