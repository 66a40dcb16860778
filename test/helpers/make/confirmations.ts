import { type Token, tokenBySymbol } from '../../../src/kernel/tokens.js'
import { type Confirmation, confirmTips } from '../../../src/tips/confirm/confirm-tips.js'
import type { World } from '../servers/world.js'
import { strangerWallet, unknownSignature } from './supporter.js'

const usdc = tokenBySymbol('USDC') as Token

/** What the chain says of a tip of so many base units; nothing of it is on any chain. */
export function someConfirmation(
  recipient: string,
  {
    units = 1_000_000n,
    token = usdc,
    sender = strangerWallet(),
    message = null,
  }: { units?: bigint; token?: Token; sender?: string; message?: string | null } = {},
): Confirmation {
  const id = unknownSignature()
  return {
    id,
    claims: [],
    transaction: { slot: 1n, blockTime: new Date() },
    final: true,
    facts: {
      recipient,
      sender,
      token,
      received: (units * 98n) / 100n,
      shown: units,
      feeFound: true,
      message,
      intentId: null,
      agreeing: [true],
    },
  }
}

/** Stores tips as pending, as if each had been recorded and left to this test. */
export async function storePending(
  { db }: Pick<World, 'db'>,
  confirmations: readonly Confirmation[],
): Promise<void> {
  await db('tips').insert(
    confirmations.map(({ id, facts }) => ({
      id,
      kind: 'chain',
      creator_wallet: facts.recipient,
      sender: facts.sender,
      amount: 1,
      token_symbol: facts.token.symbol,
      claim_hash: Buffer.alloc(32),
      due_at: null,
    })),
  )
}

/** Records and confirms tips in one go. */
export async function confirmAll(world: World, confirmations: readonly Confirmation[]): Promise<void> {
  await storePending(world, confirmations)
  await confirmTips(world.services, confirmations)
}
