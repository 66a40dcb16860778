import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Keypair } from '@solana/web3.js'
import { usdc } from '../../../src/kernel/tokens.js'
import { waitUntil } from '../../dev/wait-until.js'
import { register } from '../../kit/client.js'
import { mintTokens, requestAirdrop } from '../../sandbox/chain/faucet.js'
import type { Sandbox } from '../../sandbox/server.js'
import { addPayoutWallet, type TakeOutNeeds, type Taker } from './take-outs.js'

/** A creator with a custody wallet, a session, and a wallet of their own. */
export interface WorldCreator extends Taker {
  readonly wallet: string
}

const provisionMs = 120_000
const startLamports = 1_000_000_000_000n
const startMicro = 1_000_000_000_000n

/** Registers creators and waits for their custody wallets. With `payoutWallets` each proves a wallet of their own, too. */
export async function createCreators(
  needs: TakeOutNeeds,
  count: number,
  payoutWallets: boolean,
): Promise<WorldCreator[]> {
  const people = await Promise.all(
    Array.from({ length: count }, async () => {
      const email = `${randomBytes(8).toString('hex')}@example.com`
      return { ...(await register(needs.url, email)), email, holder: Keypair.generate() }
    }),
  )
  const wallets = new Map<string, string>()
  const provisioned = async (): Promise<boolean> => {
    const rows = await needs.db('wallets').whereNotNull('public_key').select('user_id', 'public_key')
    for (const { user_id, public_key } of rows) wallets.set(user_id, public_key)
    return people.every(({ userId }) => wallets.has(userId))
  }
  if (!(await waitUntil(provisioned, provisionMs, () => true)))
    throw new Error('the wallets were not provisioned')
  if (payoutWallets) await Promise.all(people.map((person) => addPayoutWallet(needs, person)))
  return people.map((person) => ({ ...person, wallet: wallets.get(person.userId) ?? '' }))
}

/** A wallet with SOL and USDC. */
export function createSupporter({ chain }: Sandbox): Keypair {
  const pair = Keypair.generate()
  const wallet = pair.publicKey.toBase58()
  requestAirdrop(chain, wallet, startLamports)
  mintTokens(chain, wallet, usdc.mint, startMicro)
  return pair
}

/** A key file with SOL for the fees of sweeps. Returns its path. */
export function createPayer({ chain }: Sandbox, folder: string, name = 'payer'): string {
  const pair = Keypair.generate()
  requestAirdrop(chain, pair.publicKey.toBase58(), startLamports)
  const file = join(folder, `${name}.json`)
  writeFileSync(file, JSON.stringify([...pair.secretKey]))
  return file
}
