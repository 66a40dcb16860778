import { randomBytes } from 'node:crypto'
import type { Knex } from 'knex'
import { encodeBase58 } from '../../src/kernel/base58.js'
import { tokenBySymbol } from '../../src/kernel/tokens.js'
import type { Services } from '../../src/services.js'
import { type Confirmation, confirmTips } from '../../src/tips/confirm.js'
import type { TipFacts } from '../../src/tips/match.js'

export function freshWallet(): string {
  return encodeBase58(randomBytes(32))
}

/** A tip as the verifier would have found it on the chain. */
function confirmationFor(recipient: string, sender: string, message: string | null): Confirmation {
  const token = tokenBySymbol('SOL') as TipFacts['token']
  const id = encodeBase58(randomBytes(64))
  return {
    id,
    claims: [
      { creatorWallet: recipient, sender, amount: '0.5', tokenSymbol: 'SOL', message, intentId: null },
    ],
    transaction: { slot: 1n, blockTime: new Date() },
    final: true,
    facts: {
      recipient,
      sender,
      token,
      received: 490_000_000n,
      shown: 500_000_000n,
      feeFound: true,
      message,
      intentId: null,
      agreeing: [true],
    },
  }
}

/**
 * Records a tip of 0.5 SOL for each wallet (a wallet may be named often) and confirms them in one batch, as the
 * verifier does with what it found. Returns their signatures.
 */
export async function plantConfirmed(
  services: Pick<Services, 'db' | 'transact' | 'metrics'>,
  wallets: readonly string[],
  { sender = freshWallet(), message = null }: { sender?: string; message?: string | null } = {},
): Promise<string[]> {
  const confirmations = wallets.map((wallet) => confirmationFor(wallet, sender, message))
  await services.db('tips').insert(
    confirmations.map(({ id, facts }) => ({
      id,
      kind: 'chain',
      creator_wallet: facts.recipient,
      sender,
      amount: '0.5',
      token_symbol: 'SOL',
      claim_hash: randomBytes(32),
      // Nobody else is to look at it: these tests are about what comes after.
      due_at: null,
    })),
  )
  await confirmTips(services, confirmations)
  return confirmations.map(({ id }) => id)
}

/** The stamps (epoch ms) of a wallet's confirmed tips, in order: the ids of the events its readers must see. */
export async function stampsOf(db: Knex, wallet: string): Promise<number[]> {
  const rows: { confirmed_at: Date }[] = await db('tips as t')
    .join('parties as p', 'p.id', 't.recipient_party')
    .where({ 'p.wallet': wallet, 't.status': 'confirmed' })
    .orderBy('t.confirmed_at')
    .select('t.confirmed_at')
  return rows.map(({ confirmed_at }) => confirmed_at.getTime())
}
