import { randomBytes } from 'node:crypto'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Keypair } from '@solana/web3.js'
import { createProvisionerBatch } from '../../../src/accounts/wallets/provision-wallets.js'
import { type Composed, compose } from '../../../src/compose.js'
import { usdc } from '../../../src/kernel/tokens.js'
import { platformAccount, transferEntries, userAccount } from '../../../src/ledger/accounts.js'
import { releasePending, reserveMany } from '../../../src/ledger/bulk-transfers.js'
import { credit } from '../../../src/ledger/transfers.js'
import { loadConfig } from '../../../src/platform/config/config.js'
import { createConfiguredVault } from '../../../src/providers/vault/configured-vault.js'
import { viewCreators } from '../../../src/treasury/sweeps/custody-overview.js'
import { partsOf, planSweep } from '../../../src/treasury/sweeps/plan-sweeps.js'
import { associatedAccount, mintTokens, requestAirdrop } from '../../sandbox/chain/faucet.js'
import { type Sandbox, startSandbox } from '../../sandbox/server.js'
import type { ServerUrls } from '../kill-payouts.js'
import { serviceSettings } from '../settings.js'

export interface CustodyCreator {
  readonly userId: string
  readonly wallet: string
  /** Micro-USDC that arrived. */
  tipped: bigint
}

/** A local chain, creators with custody wallets on it, and the settings of the processes that move what they hold. */
export interface CustodyWorld {
  readonly sandbox: Sandbox
  readonly services: Composed
  readonly creators: readonly CustodyCreator[]
  readonly env: Readonly<Record<string, string>>
  /** Operators' keys and their files. */
  readonly payers: readonly { readonly file: string; readonly address: string }[]
  /** The treasury's micro-USDC before the first sweep. */
  readonly treasuryBefore: bigint
  close(): Promise<void>
}

const slotMs = 50
const payerCount = 2
const payerLamports = 10_000_000_000n

export async function openCustodyWorld(servers: ServerUrls, creatorCount: number): Promise<CustodyWorld> {
  const key = randomBytes(32)
  const noProvider = {
    FIATPAY_URL: 'http://127.0.0.1:1',
    FIATPAY_SECRET_KEY: 'sk_test',
    RATE_URL: 'http://127.0.0.1:1',
  }
  const settings = serviceSettings(servers, { env: noProvider }, 0, true)
  const treasury = settings['TREASURY_WALLET'] ?? ''
  const sandbox = await startSandbox({ port: 0, slotMs, treasury })
  // Twice, so that what expired needs no person.
  const env = {
    ...settings,
    SOLANA_RPC_URLS: `${sandbox.url},${sandbox.url}`,
    WALLET_KEK: key.toString('base64'),
  }
  const services = compose(loadConfig({ ...env, LOG_LEVEL: 'silent' }), 'faults')
  const creators = await createCreators(services, key, creatorCount)
  const folder = mkdtempSync(join(tmpdir(), 'tipping-sweeps-'))
  const payers = Array.from({ length: payerCount }, (_, n) => {
    const pair = Keypair.generate()
    const address = pair.publicKey.toBase58()
    requestAirdrop(sandbox.chain, address, payerLamports)
    const file = join(folder, `payer-${n}.json`)
    writeFileSync(file, JSON.stringify([...pair.secretKey]))
    return { file, address }
  })
  return {
    sandbox,
    services,
    creators,
    env,
    payers,
    treasuryBefore: usdcOf(sandbox, treasury),
    async close() {
      await services.close()
      await sandbox.close()
    },
  }
}

async function createCreators(services: Composed, key: Buffer, count: number): Promise<CustodyCreator[]> {
  const { db } = services
  const users: { id: string }[] = await db('users')
    .insert(
      Array.from({ length: count }, () => ({
        email: `${randomBytes(8).toString('hex')}@example.com`,
        name: 'Ada Obi',
        password_hash: 'none',
      })),
    )
    .returning('id')
  await db.raw('insert into wallets (user_id) select unnest(?::uuid[])', [users.map(({ id }) => id)])
  const provision = createProvisionerBatch({ ...services, vault: createConfiguredVault(key) })
  for (let taken = 1; taken > 0; ) taken = (await provision()).taken
  const rows: { user_id: string; public_key: string }[] = await db('wallets').whereIn(
    'user_id',
    users.map(({ id }) => id),
  )
  return rows.map(({ user_id, public_key }) => ({ userId: user_id, wallet: public_key, tipped: 0n }))
}

/** USDC arrive in the wallet and are credited as a final tip. */
export async function tip(
  { sandbox, services }: CustodyWorld,
  creator: CustodyCreator,
  micro: bigint,
): Promise<void> {
  mintTokens(sandbox.chain, creator.wallet, usdc.mint, micro)
  creator.tipped += micro
  const key = `tip:${randomBytes(8).toString('hex')}`
  const entries = transferEntries(
    micro,
    platformAccount('custody_wallets', 'USDC'),
    userAccount(creator.userId, 'pending', 'USDC'),
  )
  await services.transact(async ({ trx }) => {
    await reserveMany(trx, [{ key, ref: key, entries }])
    await releasePending(trx, [key])
  })
}

/** The platform pays the creator: what it owes becomes less. */
export async function pay(
  { services }: CustodyWorld,
  { userId }: CustodyCreator,
  micro: bigint,
): Promise<void> {
  const entries = transferEntries(
    micro,
    userAccount(userId, 'available', 'USDC'),
    platformAccount('fx', 'USDC'),
  )
  await credit(services.db, { key: `faults:${randomBytes(8).toString('hex')}`, ref: 'faults', entries })
}

/** Plans what may be swept of one creator, as a command does that is killed right afterwards. */
export async function planFor({ services, payers }: CustodyWorld, { userId }: CustodyCreator): Promise<void> {
  const parts = partsOf(await viewCreators(services, [userId]))
  const payer = payers[0]?.address ?? ''
  if (parts.length > 0)
    await services.transact((uow) => planSweep(uow, services, { payer, actor: 'faults', parts }))
}

export async function owedTo({ services }: CustodyWorld, userId: string): Promise<bigint> {
  const row = await services
    .db('ledger_accounts')
    .where({ user_id: userId, currency: 'USDC' })
    .sum({ units: 'balance' })
    .first()
  return BigInt(row?.units ?? 0)
}

/** Micro-USDC in a wallet's associated account. */
export function usdcOf({ chain }: Pick<Sandbox, 'chain'>, wallet: string): bigint {
  const account = chain.svm.account(associatedAccount(wallet, usdc.mint).toBase58())
  return account === undefined ? 0n : Buffer.from(account.data).readBigUInt64LE(64)
}
