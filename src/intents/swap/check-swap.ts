import { solMint } from '../../kernel/tokens.js'
import {
  type AccountChange,
  type AccountState,
  rentExemptLamports,
  type Simulation,
  type TokenHolding,
} from '../../ports/chain.js'
import { isForbiddenInstruction, networkFeeOf, paysInto, systemProgram } from './swap-instructions.js'

export interface SwapTerms {
  readonly supporter: string
  /** The supporter's associated account of wrapped SOL. A swap of SOL goes through it. */
  readonly wrappedAccount: string
  readonly recipient: string
  readonly recipientAccount: string
  readonly inputMint: string
  readonly outputMint: string
  /** Base units of the input the supporter agreed. */
  readonly amount: bigint
  /** The amount promised to the recipient, in base units of the output. */
  readonly outAmount: bigint
}

/** Why a transaction is not used. `second_signer` is not suspicious: some markets need another signer. */
type SwapFault =
  | 'second_signer'
  | 'strange_instruction'
  | 'fee_too_high'
  | 'recipient_not_paid'
  | 'fails'
  | 'pays_less'
  | 'takes_too_much'
  | 'changes_hands'

export type SwapCheck =
  | { readonly fault: SwapFault }
  /** The amount the recipient receives in the simulation; undefined when the supporter cannot pay yet. */
  | { readonly fault: undefined; readonly received: bigint | undefined }

/** How far the price may have moved between the quote and the simulation. */
const maxDriftBps = 100n
/** The highest accepted fee for signatures and priority, in lamports. */
const maxNetworkFee = 1_000_000n
/** The rent of a token account, in lamports. */
const tokenAccountRent = 2_039_280n
/** The controls of a token account that only its owner can move or close: initialized, all other fields empty. */
const ownerOnlyControls = `${'00'.repeat(36)}01${'00'.repeat(44)}`

/**
 * Checks the transaction of a swap engine by its content and by its simulation. Only the supporter signs. It has only known
 * instructions. It pays the promised amount into the recipient's own account. The supporter loses only the agreed amount,
 * the network fee and the rent of an account opened for the recipient. No account of the supporter gets another owner.
 * If the simulation fails because the supporter has too little, only the content is checked: the supporter may add the
 * money before they sign.
 */
export function checkSwap(terms: SwapTerms, simulation: Simulation): SwapCheck {
  const { signers, instructions, changes, failed } = simulation
  if (signers.length !== 1 || signers[0] !== terms.supporter) return { fault: 'second_signer' }
  if (instructions.some((one) => isForbiddenInstruction(one, terms))) return { fault: 'strange_instruction' }
  const networkFee = networkFeeOf(instructions)
  if (networkFee > maxNetworkFee) return { fault: 'fee_too_high' }
  const paid = changes.get(terms.recipientAccount)
  if (paid === undefined || !instructions.some((one) => paysInto(one, terms.recipientAccount)))
    return { fault: 'recipient_not_paid' }
  if (failed)
    return canPay(terms, networkFee, changes) ? { fault: 'fails' } : { fault: undefined, received: undefined }
  return checkChanges(terms, networkFee, paid, changes)
}

function checkChanges(
  terms: SwapTerms,
  networkFee: bigint,
  paid: AccountChange,
  changes: Simulation['changes'],
): SwapCheck {
  const after = paid.after?.holding
  if (after?.owner !== terms.recipient || after.mint !== terms.outputMint)
    return { fault: 'recipient_not_paid' }
  const received = after.amount - (paid.before?.holding?.amount ?? 0n)
  if (received * 10_000n < terms.outAmount * (10_000n - maxDriftBps)) return { fault: 'pays_less' }
  if (changesHands(terms, changes)) return { fault: 'changes_hands' }
  const opened = paid.before === undefined ? tokenAccountRent : 0n
  if (takesTooMuch(terms, networkFee + opened, changes)) return { fault: 'takes_too_much' }
  return { fault: undefined, received }
}

/** Whether the wallet or a token account of the supporter changes its owner, program or controls. */
function changesHands({ supporter }: SwapTerms, changes: Simulation['changes']): boolean {
  const wallet = changes.get(supporter)?.after
  if (wallet !== undefined && wallet.program !== systemProgram) return true
  return [...changes.values()].some(({ before, after }) => {
    const owned = [before, after].some((state) => state?.holding?.owner === supporter)
    if (!owned || after === undefined) return false
    const controls = before?.holding?.controls ?? ownerOnlyControls
    return after.holding?.owner !== supporter || after.holding.controls !== controls
  })
}

function takesTooMuch(
  { supporter, inputMint, amount }: SwapTerms,
  costs: bigint,
  changes: Simulation['changes'],
): boolean {
  const agreed = (mint: string): bigint => (mint === inputMint ? amount : 0n)
  if (totalLoss(changes, (state, key) => lamportsOf(state, key, supporter)) > agreed(solMint) + costs)
    return true
  const mints = new Set(
    [...changes.values()].flatMap(({ before }) => holdingOf(before, supporter)?.mint ?? []),
  )
  mints.delete(solMint)
  return [...mints].some(
    (mint) => totalLoss(changes, (state) => tokensOf(state, mint, supporter)) > agreed(mint),
  )
}

function totalLoss(
  changes: Simulation['changes'],
  amountOf: (state: AccountState | undefined, key: string) => bigint,
): bigint {
  let sum = 0n
  for (const [key, { before, after }] of changes) sum += amountOf(before, key) - amountOf(after, key)
  return sum
}

/** The lamports of a token account count too: closing it returns them, and wrapped SOL is lamports. */
function lamportsOf(state: AccountState | undefined, key: string, supporter: string): bigint {
  const own = key === supporter || holdingOf(state, supporter) !== undefined
  return own ? (state?.lamports ?? 0n) : 0n
}

function tokensOf(state: AccountState | undefined, mint: string, supporter: string): bigint {
  const holding = holdingOf(state, supporter)
  return holding?.mint === mint ? holding.amount : 0n
}

function holdingOf(state: AccountState | undefined, supporter: string): TokenHolding | undefined {
  return state?.holding?.owner === supporter ? state.holding : undefined
}

/** Whether the supporter has enough for the swap, including the rent of a temporary account of wrapped SOL. */
function canPay(
  { supporter, inputMint, amount, recipientAccount }: SwapTerms,
  networkFee: bigint,
  changes: Simulation['changes'],
): boolean {
  const isSol = inputMint === solMint
  const opened = changes.get(recipientAccount)?.before === undefined ? tokenAccountRent : 0n
  const needed = (isSol ? amount + tokenAccountRent : 0n) + networkFee + opened + rentExemptLamports
  const states = [...changes.values()].map(({ before }) => before)
  const tokens = states.reduce((sum, state) => sum + tokensOf(state, inputMint, supporter), 0n)
  return (changes.get(supporter)?.before?.lamports ?? 0n) >= needed && (isSol || tokens >= amount)
}
