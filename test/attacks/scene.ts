import type { TransactionInstruction } from '@solana/web3.js'
import { associatedAccount, openTokenAccounts, requestAirdrop } from '../../scripts/sandbox/chain/faucet.js'
import { type Token, tokenBySymbol } from '../../src/kernel/tokens.js'
import { registerCreator, type TestCreator } from '../helpers/make/creators.js'
import { createSupporter, type Supporter } from '../helpers/make/supporter.js'
import { solTransfer, tokenTransfer } from '../helpers/make/transfers.js'
import type { World } from '../helpers/servers/world.js'

export const usdc = tokenBySymbol('USDC') as Token
export const bonk = tokenBySymbol('BONK') as Token
export const sol = tokenBySymbol('SOL') as Token

/** Who plays in an attack: creators with funded wallets, an honest supporter, an attacker, and a creator who attacks. */
export interface Scene {
  readonly world: World
  readonly creators: readonly [TestCreator, TestCreator, TestCreator]
  readonly supporter: Supporter
  readonly attacker: Supporter
  /** A registered creator who holds the key of the own wallet, as ours never do. */
  readonly insider: Supporter & { readonly creator: TestCreator }
  readonly treasury: string
}

const rentAndMore = 10_000_000n

export async function openScene(world: World): Promise<Scene> {
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

let serial = 0
/** Base units of a small amount that no other transfer of this run has: equal ones in a slot would be one transaction. */
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
