import { solMint } from '../../kernel/tokens.js'
import {
  type AccountChange,
  type AccountState,
  type Holding,
  rentExemptLamports,
  type Simulation,
} from '../../ports/chain.js'
import { networkFeeOf, pays, strangeInstruction, systemProgram } from './swap-instructions.js'

/** What a swap transaction has to keep. */
export interface SwapTerms {
  readonly supporter: string
  /** The supporter's associated account of wrapped SOL, where SOL is put on its way into a swap. */
  readonly wrappedAccount: string
  readonly recipient: string
  readonly recipientAccount: string
  readonly inputMint: string
  readonly outputMint: string
  /** Base units of the input the supporter gives. */
  readonly amount: bigint
  /** Base units of the output the recipient was promised. */
  readonly outAmount: bigint
}

/** Why a transaction is not handed out. `second_signer` is no lie: some markets work that way. */
type SwapFault =
  | 'second_signer'
  | 'strange_instruction'
  | 'fee_too_high'
  | 'recipient_not_paid'
  | 'fails'
  | 'pays_less'
  | 'takes_too_much'
  | 'changes_hands'

export type SwapVerdict =
  | { readonly fault: SwapFault }
  /** What the recipient receives as things are; undefined when the supporter cannot pay yet, so that it cannot be told. */
  | { readonly fault: undefined; readonly received: bigint | undefined }

/** How far the price may have moved between the quote and the simulation. */
const driftBps = 100n
/** Lamports for signatures and priority; more is not a fee. */
const networkFeeMax = 1_000_000n
/** Lamports the network wants in a token account. */
const accountRent = 2_039_280n
/** The controls of an account that nobody but its owner moves or closes: initialized, all else empty. */
const plainControls = `${'00'.repeat(36)}01${'00'.repeat(44)}`

/**
 * Judges an engine's transaction by what it says and by what it does when it is simulated: nobody but the supporter
 * signs, only known instructions, the recipient's own account is paid what was promised, the supporter loses the
 * agreed amount, the network's fee and the rent of the account opened for the recipient, and nothing of theirs changes hands.
 * A transaction that fails because the supporter has too little is judged by what it says alone: their balance is
 * not our business.
 */
export function checkSwap(terms: SwapTerms, rehearsal: Simulation): SwapVerdict {
  const { signers, instructions, changes, failed } = rehearsal
  if (signers.length !== 1 || signers[0] !== terms.supporter) return { fault: 'second_signer' }
  if (instructions.some((one) => strangeInstruction(one, terms))) return { fault: 'strange_instruction' }
  const networkFee = networkFeeOf(instructions)
  if (networkFee > networkFeeMax) return { fault: 'fee_too_high' }
  const paid = changes.get(terms.recipientAccount)
  if (paid === undefined || !instructions.some((one) => pays(one, terms.recipientAccount)))
    return { fault: 'recipient_not_paid' }
  if (failed)
    return canPay(terms, networkFee, changes) ? { fault: 'fails' } : { fault: undefined, received: undefined }
  return judgeChanges(terms, networkFee, paid, changes)
}

function judgeChanges(
  terms: SwapTerms,
  networkFee: bigint,
  paid: AccountChange,
  changes: Simulation['changes'],
): SwapVerdict {
  const after = paid.after?.holding
  if (after?.owner !== terms.recipient || after.mint !== terms.outputMint)
    return { fault: 'recipient_not_paid' }
  const received = after.amount - (paid.before?.holding?.amount ?? 0n)
  if (received * 10_000n < terms.outAmount * (10_000n - driftBps)) return { fault: 'pays_less' }
  if (changesHands(terms, changes)) return { fault: 'changes_hands' }
  const opened = paid.before === undefined ? accountRent : 0n
  if (takesTooMuch(terms, networkFee + opened, changes)) return { fault: 'takes_too_much' }
  return { fault: undefined, received }
}

/** Everything of the supporter's that the transaction may change: the wallet and token accounts they have now. */
function changesHands({ supporter }: SwapTerms, changes: Simulation['changes']): boolean {
  const wallet = changes.get(supporter)?.after
  if (wallet !== undefined && wallet.program !== systemProgram) return true
  return [...changes.values()].some(({ before, after }) => {
    const owned = [before, after].some((state) => state?.holding?.owner === supporter)
    if (!owned || after === undefined) return false
    const controls = before?.holding?.controls ?? plainControls
    return after.holding?.owner !== supporter || after.holding.controls !== controls
  })
}

function takesTooMuch(
  { supporter, inputMint, amount }: SwapTerms,
  costs: bigint,
  changes: Simulation['changes'],
): boolean {
  const gives = (mint: string): bigint => (mint === inputMint ? amount : 0n)
  if (lost(changes, (state, key) => lamportsOf(state, key, supporter)) > gives(solMint) + costs) return true
  const mints = new Set(
    [...changes.values()].flatMap(({ before }) => ofSupporter(before, supporter)?.mint ?? []),
  )
  mints.delete(solMint)
  return [...mints].some((mint) => lost(changes, (state) => tokensOf(state, mint, supporter)) > gives(mint))
}

function lost(
  changes: Simulation['changes'],
  worth: (state: AccountState | undefined, key: string) => bigint,
): bigint {
  let sum = 0n
  for (const [key, { before, after }] of changes) sum += worth(before, key) - worth(after, key)
  return sum
}

/** A token account's lamports are its owner's too: they come back when it is closed, and wrapped SOL is lamports. */
function lamportsOf(state: AccountState | undefined, key: string, supporter: string): bigint {
  const own = key === supporter || ofSupporter(state, supporter) !== undefined
  return own ? (state?.lamports ?? 0n) : 0n
}

function tokensOf(state: AccountState | undefined, mint: string, supporter: string): bigint {
  const holding = ofSupporter(state, supporter)
  return holding?.mint === mint ? holding.amount : 0n
}

function ofSupporter(state: AccountState | undefined, supporter: string): Holding | undefined {
  return state?.holding?.owner === supporter ? state.holding : undefined
}

/** Whether the supporter has what the swap takes, with room for an account of wrapped SOL on the way. */
function canPay(
  { supporter, inputMint, amount, recipientAccount }: SwapTerms,
  networkFee: bigint,
  changes: Simulation['changes'],
): boolean {
  const sol = inputMint === solMint
  const opened = changes.get(recipientAccount)?.before === undefined ? accountRent : 0n
  const needed = (sol ? amount + accountRent : 0n) + networkFee + opened + rentExemptLamports
  const states = [...changes.values()].map(({ before }) => before)
  const tokens = states.reduce((sum, state) => sum + tokensOf(state, inputMint, supporter), 0n)
  return (changes.get(supporter)?.before?.lamports ?? 0n) >= needed && (sol || tokens >= amount)
}
