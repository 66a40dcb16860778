import type { Knex } from 'knex'
import { type Token, tokenBySymbol } from '../../../src/kernel/tokens.js'
import { confirmTips } from '../../../src/tips/confirm/confirm-tips.js'
import { someConfirmation, storePending } from './confirmations.js'
import { strangerWallet } from './supporter.js'

const sol = tokenBySymbol('SOL') as Token

/**
 * Records a tip of 0.5 SOL for each wallet (a wallet may be named often) and confirms them in one batch, as the
 * verifier does with what it found. Returns their signatures.
 */
export async function plantConfirmed(
  services: Parameters<typeof confirmTips>[0],
  wallets: readonly string[],
  { sender = strangerWallet(), message = null }: { sender?: string; message?: string | null } = {},
): Promise<string[]> {
  const confirmations = wallets.map((wallet) =>
    someConfirmation(wallet, { units: 500_000_000n, token: sol, sender, message }),
  )
  await storePending(services, confirmations)
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
