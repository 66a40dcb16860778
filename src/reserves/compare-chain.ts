import { displayText } from '../kernel/money.js'
import { tokenByMint } from '../kernel/tokens.js'
import type { ChainTransaction } from '../ports/chain.js'
import type { Services } from '../services.js'
import { type LandedPayment, paymentsIn } from '../tips/confirm/record-landed.js'
import { type LandedMove, moveIn } from '../treasury/custody-move.js'
import { type ClaimOutlook, walkCustody } from './walk-custody.js'

type Needs = Pick<Services, 'db' | 'chain' | 'custodyChain' | 'config'>

/**
 * What the chain has and the rows lack.
 * - `payment`: it paid custody wallets; `sweep`, `take_out`: it moved what they held, as the service does
 * - `outflow`: it took from custody wallets what the service never signs
 * - `unread`: a transaction that no endpoint gives, or an address with more transactions than are read
 */
export interface ChainDifference {
  /** The signature; of `unread` perhaps the address. */
  readonly subject: string
  readonly kind: 'payment' | LandedMove['kind'] | 'unread'
  /** Amounts and wallets. */
  readonly shown: string
}

export interface ChainComparison {
  readonly differences: readonly ChainDifference[]
  /** Those that nobody has reported. */
  readonly payments: readonly LandedPayment[]
}

/**
 * Compares every custody wallet's transactions with the rows, back to a moment. Changes nothing. Throws ProviderError when a wallet
 * cannot be read.
 */
export async function compareChain(
  services: Needs,
  since: Date,
  report: (wallets: number, differences: number) => void = () => undefined,
): Promise<ChainComparison> {
  const differences: ChainDifference[] = []
  const payments: LandedPayment[] = []
  for await (const { wallets, transactions, claims, owners, unread } of walkCustody(services, since)) {
    for (const transaction of transactions) {
      const outlook = claims.get(transaction.signature)
      const { difference, paid } = readTransaction(services, transaction, owners, outlook)
      if (difference !== undefined) differences.push(difference)
      if (outlook === undefined) payments.push(...paid)
    }
    for (const subject of unread)
      differences.push({ subject, kind: 'unread', shown: 'it could not be read to its end' })
    report(wallets, differences.length)
  }
  return { differences, payments }
}

/** A move is a difference whoever has reported its signature; a payment is none when its claim settles it. */
function readTransaction(
  { chain, config }: Needs,
  transaction: ChainTransaction,
  owners: ReadonlyMap<string, string>,
  outlook: ClaimOutlook | undefined,
): { readonly difference?: ChainDifference; readonly paid: readonly LandedPayment[] } {
  const { signature: subject } = transaction
  const move = moveIn(chain, transaction, owners, config.tips.treasuryWallet)
  if (move !== undefined) return { difference: { subject, kind: move.kind, shown: moveText(move) }, paid: [] }
  const paid = outlook === 'settles' ? [] : paymentsIn(chain, transaction, owners)
  if (paid.length === 0) return { paid }
  return { difference: { subject, kind: 'payment', shown: paid.map(paymentText).join(', ') }, paid }
}

function amountText(units: bigint, mint: string): string {
  const token = tokenByMint(mint)
  return `${displayText(units, token?.decimals ?? 0)} ${token?.symbol ?? mint}`
}

function paymentText({ token, received, userId }: LandedPayment): string {
  return `${amountText(received, token.mint)} to user ${userId}`
}

function moveText({ moves, destination }: LandedMove): string {
  const parts = moves.map(({ amount, mint, userId }) => `${amountText(amount, mint)} of user ${userId}`)
  return `${parts.join(', ')} to ${destination}`
}
