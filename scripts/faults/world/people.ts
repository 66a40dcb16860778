import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Keypair } from '@solana/web3.js'
import type { Knex } from 'knex'
import { encodeBase58 } from '../../../src/kernel/base58.js'
import { signMessageBytes } from '../../../src/kernel/ed25519.js'
import { usdc } from '../../../src/kernel/tokens.js'
import { waitUntil } from '../../dev/wait-until.js'
import {
  type ApiAnswer,
  type ApiRequest,
  type Creator,
  codeIn,
  register,
  requestUntilAnswered,
} from '../../kit/client.js'
import { mintTokens, requestAirdrop } from '../../sandbox/chain/faucet.js'
import type { Sandbox } from '../../sandbox/server.js'

/** A creator with a custody wallet, a session, and a wallet of their own. */
export interface WorldCreator extends Creator {
  readonly wallet: string
  readonly email: string
  readonly holder: Keypair
}

interface World {
  readonly url: string
  readonly db: Knex
  readonly sandbox: Sandbox
}

const provisionMs = 120_000
const codeMs = 90_000
const startLamports = 1_000_000_000_000n
const startMicro = 1_000_000_000_000n

/** Registers creators, waits for their custody wallets, and has each prove a wallet of their own. */
export async function createCreators(world: World, count: number): Promise<WorldCreator[]> {
  const people = await Promise.all(
    Array.from({ length: count }, async () => {
      const email = `${randomBytes(8).toString('hex')}@example.com`
      return { ...(await register(world.url, email)), email, holder: Keypair.generate() }
    }),
  )
  const wallets = new Map<string, string>()
  const provisioned = async (): Promise<boolean> => {
    const rows = await world.db('wallets').whereNotNull('public_key').select('user_id', 'public_key')
    for (const { user_id, public_key } of rows) wallets.set(user_id, public_key)
    return people.every(({ userId }) => wallets.has(userId))
  }
  if (!(await waitUntil(provisioned, provisionMs))) throw new Error('the wallets were not provisioned')
  const creators = people.map((person) => ({ ...person, wallet: wallets.get(person.userId) ?? '' }))
  await Promise.all(creators.map((creator) => addPayoutWallet(world, creator)))
  return creators
}

async function addPayoutWallet(world: World, creator: WorldCreator): Promise<void> {
  const { publicKey, secretKey } = creator.holder
  const wallet = publicKey.toBase58()
  requestAirdrop(world.sandbox.chain, wallet, startLamports)
  const challenge = await requestAs(world, creator, ['POST', '/creators/payout-wallet/challenge', { wallet }])
  const message = Buffer.from(String(challenge.body['message']))
  const proof = { wallet, signature: encodeBase58(signMessageBytes(secretKey, message)) }
  const { status, body } = await requestSteppedUp(world, creator, ['PUT', '/creators/payout-wallet', proof])
  if (status !== 200) throw new Error(`payout-wallet: ${status} ${JSON.stringify(body)}`)
}

export function requestAs(
  { url }: Pick<World, 'url'>,
  { cookie }: Creator,
  request: ApiRequest,
): Promise<ApiAnswer> {
  return requestUntilAnswered(url, request, { cookie })
}

/** Sends a request, and repeats it with the code that it has mailed. */
export async function requestSteppedUp(
  world: World,
  creator: WorldCreator,
  [method, path, body]: ApiRequest,
): Promise<ApiAnswer> {
  // There are ten codes a day. Here a day is short.
  await world.db('one_time_secrets').where({ user_id: creator.userId, purpose: 'step_up' }).delete()
  const codes = (): string[] =>
    world.sandbox.mail.received(creator.email).flatMap(({ text }) => codeIn(text) ?? [])
  const before = codes().length
  const first = await requestAs(world, creator, [method, path, body])
  if (first.body['code'] !== 'step_up_required') return first
  await waitUntil(() => codes().length > before, codeMs)
  return requestAs(world, creator, [method, path, { ...(body as object), code: codes()[0] }])
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
