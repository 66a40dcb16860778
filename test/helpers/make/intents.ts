import type { TransactionInstruction } from '@solana/web3.js'
import { type Token, tokenBySymbol } from '../../../src/kernel/tokens.js'
import type { Request } from '../http/client.js'
import type { World } from '../servers/world.js'
import { until } from '../until.js'
import type { Supporter } from './supporter.js'

/** The answer of POST /payments/intent. */
export interface IntentBody {
  readonly success: true
  readonly intentId: string
  readonly status: 'requires_action'
  readonly transaction: string
  readonly quote: {
    readonly outAmount: string
    readonly priceImpactPct: number
    readonly amountUsd: number
    readonly tokenSymbol: string
  }
  readonly executionMode: 'sync' | 'async'
  readonly provider: string
  readonly lastValidBlockHeight: number
  readonly settings: {
    readonly yieldEnabled: boolean
    readonly gaslessEnabled: boolean
    readonly autoConvertUsdc: boolean
  }
  readonly expiresAt: string
  readonly recipient: string
  readonly input: TokenAmount
  readonly output: TokenAmount
}

interface TokenAmount {
  readonly symbol: string
  readonly mint: string
  readonly decimals: number
  readonly amount: string
}

/** Creates a payment intent. Throws when it is refused. */
export async function createIntent(request: Request, body: Record<string, unknown>): Promise<IntentBody> {
  const answer = await request<IntentBody>('POST', '/payments/intent', { body })
  if (answer.status !== 200) throw new Error(`intent: ${answer.status} ${JSON.stringify(answer.body)}`)
  return answer.body
}

/** A payment intent whose transaction has landed, and the claim its client would send. */
export interface PaidIntent {
  readonly intent: IntentBody
  readonly signature: string
  readonly claim: Readonly<Record<string, unknown>>
}

export interface PaymentOptions {
  readonly symbol?: string
  readonly message?: string
  /** How the wallet changes the instructions before it signs. */
  readonly change?: (instructions: TransactionInstruction[]) => TransactionInstruction[]
}

/** Creates and pays an intent of about two dollars for each recipient. The amounts differ slightly. */
export async function createPaidIntents(
  world: World,
  supporter: Supporter,
  recipients: readonly string[],
  { symbol = 'USDC', message, change }: PaymentOptions = {},
): Promise<PaidIntent[]> {
  const { mint, decimals } = tokenBySymbol(symbol) as Token
  const paid: PaidIntent[] = []
  // A loaded machine must answer all of them within the limits of an interactive request.
  const concurrency = 10
  for (let start = 0; start < recipients.length; start += concurrency) {
    const some = recipients.slice(start, start + concurrency).map(async (creatorId, index) => {
      const amount = (2 * 10 ** Math.min(decimals, 6) + start + index) / 10 ** Math.min(decimals, 6)
      const body = { creatorId, amount, inputTokenMint: mint, sourceWalletAddress: supporter.wallet, message }
      const intent = await createIntent(world.request, body)
      const signature = supporter.pay(intent.transaction, change)
      const tipAmount = Math.round(amount * 10 ** decimals)
      const who = { creatorWallet: creatorId, senderWallet: supporter.wallet }
      return { intent, signature, claim: { ...who, tipAmount, tokenSymbol: symbol, txSignature: signature } }
    })
    paid.push(...(await Promise.all(some)))
  }
  await untilConfirmedOnChain(
    world,
    paid.map(({ signature }) => signature),
  )
  return paid
}

/** Lets the chain confirm all signatures. */
export async function untilConfirmedOnChain(
  { sandbox: { chain } }: World,
  signatures: readonly string[],
): Promise<void> {
  chain.advance(1)
  await until('the chain has confirmed them', () =>
    signatures.every((signature) => chain.ledger.visible(signature, 'confirmed') !== undefined),
  )
}

/** Makes all tips with a due time due now. */
export async function makeTipsDue({ db }: World): Promise<void> {
  await db('tips')
    .whereNotNull('due_at')
    .update({ due_at: new Date(0) })
}
