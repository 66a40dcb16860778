import { solMint } from '../../kernel/tokens.js'
import type { Payment, ReadInstruction, ReadMessage } from '../../ports/custody-chain.js'

const programs = {
  system: '11111111111111111111111111111111',
  computeBudget: 'ComputeBudget111111111111111111111111111111',
  associatedToken: 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL',
  token: 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
} as const

// The first bytes of the instructions that we sign, and their lengths. The system program numbers its own with four bytes.
const setUnitLimit = { kind: 2, bytes: 5 }
const setUnitPrice = { kind: 3, bytes: 9 }
const createIdempotent = 1
const transferChecked = { kind: 12, bytes: 10 }
const systemTransfer = { kind: 2, bytes: 12 }
const closeAccount = 9

const microLamports = 1_000_000n
/** 0.005 SOL: far above what we set ourselves, and what a wallet sets in a busy hour. */
const maxPriorityLamports = 5_000_000n

/** What a message must do, no more and no less. */
export interface Allowed {
  readonly payer: string
  readonly payments: readonly Payment[]
  /** Programs by which wallets protect their owner. Their instructions may name no custody wallet. */
  readonly guards: ReadonlySet<string>
  readonly associatedAccount: (wallet: string, mint: string) => string
}

/**
 * Why a message must not be signed; undefined when it may. It is read again from its bytes, whoever built it: compute budget,
 * token accounts that the payer opens for the recipients, wrapped SOL that becomes SOL of the same wallet, each payment exactly once.
 * There is no instruction that gives somebody else rights, or has a custody wallet pay a fee.
 */
export function faultOfMessage(message: ReadMessage | undefined, allowed: Allowed): string | undefined {
  if (message === undefined) return 'it is no plain message'
  const { payer, payments } = allowed
  const custody = new Set(payments.map(({ from }) => from))
  if (message.signers[0] !== payer || custody.has(payer)) return 'another wallet pays its fee'
  const signers = new Set(message.signers)
  if (signers.size !== custody.size + 1 || [...custody].some((wallet) => !signers.has(wallet)))
    return 'other wallets sign it'
  const open = new Set(payments)
  for (const instruction of message.instructions) {
    const fault = faultOfInstruction(instruction, allowed, open, custody)
    if (fault !== undefined) return fault
  }
  if (open.size > 0) return 'a payment is missing'
  return priorityLamports(message.instructions) > maxPriorityLamports
    ? 'its priority fee is too high'
    : undefined
}

function faultOfInstruction(
  instruction: ReadInstruction,
  allowed: Allowed,
  open: Set<Payment>,
  custody: ReadonlySet<string>,
): string | undefined {
  const { program, accounts } = instruction
  switch (program) {
    case programs.computeBudget:
      return isComputeBudget(instruction) ? undefined : 'it has another instruction of the compute budget'
    case programs.associatedToken:
      return opensRecipient(instruction, allowed) ? undefined : 'it opens another account'
    case programs.token:
    case programs.system: {
      if (unwraps(instruction, allowed)) return undefined
      const payment = [...open].find((one) => pays(instruction, one, allowed))
      if (payment === undefined) return 'it has another payment'
      open.delete(payment)
      return undefined
    }
    default: {
      const isGuard = allowed.guards.has(program) && !accounts.some(({ address }) => custody.has(address))
      return isGuard ? undefined : 'it calls another program'
    }
  }
}

function isComputeBudget({ accounts, data }: ReadInstruction): boolean {
  const known = [setUnitLimit, setUnitPrice]
  return accounts.length === 0 && known.some(({ kind, bytes }) => data[0] === kind && data.length === bytes)
}

/** The payer opens the associated account of a recipient. */
function opensRecipient({ accounts, data }: ReadInstruction, allowed: Allowed): boolean {
  if (data.length !== 1 || data[0] !== createIdempotent) return false
  return allowed.payments.some(
    ({ to, mint }) =>
      mint !== solMint &&
      isSame(accounts, [
        allowed.payer,
        allowed.associatedAccount(to, mint),
        to,
        mint,
        programs.system,
        programs.token,
      ]),
  )
}

/** Closes a wallet's account of wrapped SOL in favor of that wallet. */
function unwraps(
  { program, accounts, data }: ReadInstruction,
  { payments, associatedAccount }: Allowed,
): boolean {
  if (program !== programs.token || data.length !== 1 || data[0] !== closeAccount) return false
  return payments.some(
    ({ from, mint }) => mint === solMint && isSame(accounts, [associatedAccount(from, solMint), from, from]),
  )
}

function pays(
  { program, accounts, data }: ReadInstruction,
  { from, to, mint, decimals, amount, referenceKey }: Payment,
  { associatedAccount }: Allowed,
): boolean {
  const named = referenceKey === undefined ? [] : [referenceKey]
  const bytes = Buffer.from(data)
  if (mint === solMint)
    return (
      program === programs.system &&
      bytes.length === systemTransfer.bytes &&
      bytes.readUInt32LE(0) === systemTransfer.kind &&
      bytes.readBigUInt64LE(4) === amount &&
      isSame(accounts, [from, to, ...named])
    )
  return (
    program === programs.token &&
    bytes.length === transferChecked.bytes &&
    bytes[0] === transferChecked.kind &&
    bytes.readBigUInt64LE(1) === amount &&
    bytes[9] === decimals &&
    isSame(accounts, [associatedAccount(from, mint), mint, associatedAccount(to, mint), from, ...named])
  )
}

function isSame(accounts: ReadInstruction['accounts'], addresses: readonly string[]): boolean {
  return (
    accounts.length === addresses.length &&
    accounts.every(({ address }, index) => address === addresses[index])
  )
}

/** What the payer offers above the fee of the signatures. Without a limit the network counts 200,000 units an instruction. */
function priorityLamports(instructions: readonly ReadInstruction[]): bigint {
  const budget = instructions
    .filter(({ program }) => program === programs.computeBudget)
    .map(({ data }) => Buffer.from(data))
  const limits = budget.filter((data) => data[0] === setUnitLimit.kind).map((data) => data.readUInt32LE(1))
  const prices = budget.filter((data) => data[0] === setUnitPrice.kind).map((data) => data.readBigUInt64LE(1))
  const units = BigInt(limits.length === 0 ? 200_000 * instructions.length : Math.max(...limits))
  const price = prices.reduce((highest, one) => (one > highest ? one : highest), 0n)
  return (units * price) / microLamports
}
