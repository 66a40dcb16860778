import type { TransactionInstruction } from '@solana/web3.js'
import { associatedAccount, openTokenAccounts, requestAirdrop } from '../../scripts/sandbox/chain/faucet.js'
import { type Token, tokenBySymbol } from '../../src/kernel/tokens.js'
import { registerCreator, type TestCreator } from '../helpers/make/creators.js'
import { solTransfer, tokenTransfer } from '../helpers/make/instructions.js'
import { createSupporter, type Supporter } from '../helpers/make/supporter.js'
import type { World } from '../helpers/servers/world.js'

export const usdc = tokenBySymbol('USDC') as Token
export const bonk = tokenBySymbol('BONK') as Token
export const sol = tokenBySymbol('SOL') as Token

/** The parties of an attack: creators with funded wallets, an honest supporter, an attacker, and a creator who attacks. */
export interface AttackSetup {
  readonly world: World
  readonly creators: readonly [TestCreator, TestCreator, TestCreator]
  readonly supporter: Supporter
  readonly attacker: Supporter
  /** A registered creator who has the key of their wallet, unlike creators with custody wallets. */
  readonly insider: Supporter & { readonly creator: TestCreator }
  readonly treasury: string
}

const rentAndMore = 10_000_000n

export async function createAttackSetup(world: World): Promise<AttackSetup> {
  const { chain } = world.sandbox
  const creators = [
    await registerCreator(world),
    await registerCreator(world),
    await registerCreator(world),
  ] as const
  for (const { wallet } of creators) {
    requestAirdrop(chain, wallet, rentAndMore)
    openTokenAccounts(chain, wallet, [usdc.mint, bonk.mint])
  }
  const someone = (): Supporter => createSupporter(world.sandbox, ['USDC', 'BONK'])
  const insider = someone()
  const creator = await registerCreator(world)
  await world.db('wallets').where({ user_id: creator.user.id }).update({ public_key: insider.wallet })
  return {
    world,
    creators: [...creators],
    supporter: someone(),
    attacker: someone(),
    insider: { ...insider, creator: { ...creator, wallet: insider.wallet } },
    treasury: world.env['TREASURY_WALLET'] ?? '',
  }
}

/** One setup for all tests of a file. */
export function shareAttackSetup(world: () => World): () => Promise<AttackSetup> {
  let opened: Promise<AttackSetup> | undefined
  return () => {
    opened ??= createAttackSetup(world())
    return opened
  }
}

let serial = 0
/** A small amount in base units, unique in this run: equal transfers in one slot would be the same transaction. */
export function someUnits(): number {
  serial += 1
  return 2_000_000 + serial
}

/** A transfer of a known token between two wallets. */
export function transfer(
  token: Token,
  from: string,
  to: string,
  units: number | bigint,
): TransactionInstruction[] {
  return token === sol ? [solTransfer(from, to, units)] : tokenTransfer(token, from, to, units)
}

export { associatedAccount }
