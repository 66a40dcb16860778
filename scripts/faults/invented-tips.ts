import { randomBytes } from 'node:crypto'
import type { Composed } from '../../src/compose.js'
import { encodeBase58 } from '../../src/kernel/base58.js'
import { type Token, tokenBySymbol } from '../../src/kernel/tokens.js'
import { confirmTips } from '../../src/tips/confirm/confirm-tips.js'

const sol = tokenBySymbol('SOL') as Token

/** An address that nobody has the key of. */
export const inventedWallet = (): string => encodeBase58(randomBytes(32))

/** Confirms a tip of 0.5 SOL for each message in one batch, as the verifier does. They are on no chain. Returns their signatures. */
export async function confirmInventedTips(
  services: Pick<Composed, 'db' | 'transact' | 'metrics'>,
  wallet: string,
  messages: readonly (string | null)[],
): Promise<string[]> {
  const tips = messages.map((message) => {
    return { id: encodeBase58(randomBytes(64)), sender: inventedWallet(), message }
  })
  await services.db('tips').insert(
    tips.map(({ id, sender }) => ({
      id,
      kind: 'chain',
      creator_wallet: wallet,
      sender,
      amount: 1,
      token_symbol: sol.symbol,
      claim_hash: randomBytes(32),
      due_at: null,
    })),
  )
  await confirmTips(
    services,
    tips.map(({ id, sender, message }) => ({
      id,
      claims: [],
      transaction: { slot: 1n, blockTime: new Date() },
      final: true,
      facts: {
        recipient: wallet,
        sender,
        token: sol,
        received: 490_000_000n,
        displayed: 500_000_000n,
        feeFound: true,
        message,
        messageByIntent: false,
        intentId: null,
        underpaidIntentId: null,
        credits: new Map(),
        agreeing: [true],
      },
    })),
  )
  return tips.map(({ id }) => id)
}
