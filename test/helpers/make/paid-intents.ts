import type { TransactionInstruction } from '@solana/web3.js'
import { type Token, tokenBySymbol } from '../../../src/kernel/tokens.js'
import type { World } from '../servers/world.js'
import { until } from '../until.js'
import { type IntentBody, issueIntent } from './intents.js'
import type { Supporter } from './supporter.js'

/** An issued intent whose transaction has landed, and the true claim to it. */
export interface PaidIntent {
  readonly intent: IntentBody
  readonly signature: string
  readonly claim: Readonly<Record<string, unknown>>
}

export interface PaymentOptions {
  readonly symbol?: string
  /** What a wallet does to the instructions before it signs. */
  readonly change?: (instructions: TransactionInstruction[]) => TransactionInstruction[]
}

/** Two dollars of a token to each of the recipients, from intents of their own. Each pays a little more than the last. */
export async function payIntents(
  world: World,
  supporter: Supporter,
  recipients: readonly string[],
  { symbol = 'USDC', change }: PaymentOptions = {},
): Promise<PaidIntent[]> {
  const { mint, decimals } = tokenBySymbol(symbol) as Token
  const paid: PaidIntent[] = []
  const sideBySide = 25
  for (let start = 0; start < recipients.length; start += sideBySide) {
    const some = recipients.slice(start, start + sideBySide).map(async (creatorId, index) => {
      const amount = (2 * 10 ** Math.min(decimals, 6) + start + index) / 10 ** Math.min(decimals, 6)
      const asked = { creatorId, amount, inputTokenMint: mint, sourceWalletAddress: supporter.wallet }
      const intent = await issueIntent(world.request, asked)
      const signature = supporter.pay(intent.transaction, change)
      const tipAmount = Math.round(amount * 10 ** decimals)
      const who = { creatorWallet: creatorId, senderWallet: supporter.wallet }
      return { intent, signature, claim: { ...who, tipAmount, tokenSymbol: symbol, txSignature: signature } }
    })
    paid.push(...(await Promise.all(some)))
  }
  await landed(
    world,
    paid.map(({ signature }) => signature),
  )
  return paid
}

/** Waits until the chain has confirmed all of them. */
export async function landed({ sandbox: { chain } }: World, signatures: readonly string[]): Promise<void> {
  await until('the chain has confirmed them', () =>
    signatures.every((signature) => chain.ledger.visible(signature, 'confirmed') !== undefined),
  )
}

/** Makes all tips due now, as if the time of their next look had come. */
export async function lookAgain({ db }: World): Promise<void> {
  await db('tips')
    .whereNotNull('due_at')
    .update({ due_at: new Date(0) })
}
