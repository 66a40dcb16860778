import { randomBytes } from 'node:crypto'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Keypair } from '@solana/web3.js'
import type { Knex } from 'knex'
import { createProvisionerBatch } from '../../../src/accounts/wallets/provision-wallets.js'
import { type Composed, compose } from '../../../src/compose.js'
import { usdc } from '../../../src/kernel/tokens.js'
import { platformAccount, transferEntries, userAccount } from '../../../src/ledger/accounts.js'
import { releasePending, reserveMany } from '../../../src/ledger/bulk-transfers.js'
import { credit } from '../../../src/ledger/transfers.js'
import { loadConfig } from '../../../src/platform/config/config.js'
import { query } from '../../../src/platform/database/database.js'
import { createConfiguredVault } from '../../../src/providers/vault/configured-vault.js'
import { viewCreators } from '../../../src/treasury/sweeps/custody-overview.js'
import { partsOf, planSweep } from '../../../src/treasury/sweeps/plan-sweeps.js'
import { freePort } from '../../dev/ports.js'
import { respondsAt } from '../../dev/probe.js'
import { mintTokens, requestAirdrop } from '../../sandbox/chain/faucet.js'
import { type Sandbox, startSandbox } from '../../sandbox/server.js'
import { register } from '../client.js'
import type { ServerUrls } from '../kill-payouts.js'
import { RespawningProcess } from '../respawning-process.js'
import { serviceSettings } from '../settings.js'
import { usdcOf } from './compare-moves.js'
import { addPayoutWallet, type TakeOutNeeds } from './take-outs.js'

export interface CustodyCreator {
  readonly userId: string
  readonly wallet: string
  /** Micro-USDC that arrived. */
  tipped: bigint
  /** Those with a payout wallet have a session too. */
  readonly cookie?: string
  readonly email?: string
  readonly holder?: Keypair
}

/** A local chain, creators with custody wallets on it, and the settings of the processes that move what they hold. */
export interface CustodyWorld {
  readonly sandbox: Sandbox
  readonly services: Composed
  readonly creators: readonly CustodyCreator[]
  readonly takeOuts: TakeOutNeeds
  readonly env: Readonly<Record<string, string>>
  /** Operators' keys and their files. */
  readonly payers: readonly { readonly file: string; readonly address: string }[]
  /** The treasury's micro-USDC before the first sweep. */
  readonly treasuryBefore: bigint
  close(): Promise<void>
}

const slotMs = 50
const payerCount = 2
const startMs = 60_000
const payerLamports = 10_000_000_000n

/** `takerCount`: so many of the creators have a wallet of their own. */
export async function openCustodyWorld(
  servers: ServerUrls,
  creatorCount: number,
  takerCount: number,
): Promise<CustodyWorld> {
  const key = randomBytes(32)
  const port = await freePort()
  const noProvider = {
    FIATPAY_URL: 'http://127.0.0.1:1',
    FIATPAY_SECRET_KEY: 'sk_test',
    RATE_URL: 'http://127.0.0.1:1',
  }
  const settings = serviceSettings(servers, { env: noProvider }, port, true)
  const treasury = settings['TREASURY_WALLET'] ?? ''
  const sandbox = await startSandbox({ port: 0, slotMs, treasury })
  // Twice, so that what expired needs no person.
  const env = {
    ...settings,
    SOLANA_RPC_URLS: `${sandbox.url},${sandbox.url}`,
    WALLET_KEK: key.toString('base64'),
    // How long a request waits for the custodian.
    WITHDRAW_WAIT_MS: '3000',
  }
  const services = compose(loadConfig({ ...env, LOG_LEVEL: 'silent' }), 'faults')
  const takeOuts: TakeOutNeeds = {
    url: `http://127.0.0.1:${port}`,
    db: services.db,
    chain: sandbox.chain,
    // No mailer runs here.
    async readMails(recipient) {
      const rows = await services
        .db('emails')
        .where({ recipient })
        .orderBy('created_at', 'desc')
        .select('body_text')
      return rows.map(({ body_text }) => String(body_text))
    },
  }
  const provision = () => provisionAll(services, key)
  const creators = [
    ...(await createTakers(takeOuts, env, takerCount, provision)),
    ...(await createCreators(services, creatorCount - takerCount, provision)),
  ]
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
    takeOuts,
    env,
    payers,
    treasuryBefore: usdcOf(sandbox.chain, treasury),
    async close() {
      await services.close()
      await sandbox.close()
    },
  }
}

/** Creators who have registered and proven a wallet of their own. */
async function createTakers(
  needs: TakeOutNeeds,
  env: Readonly<Record<string, string>>,
  count: number,
  provision: () => Promise<void>,
): Promise<CustodyCreator[]> {
  const { url, db } = needs
  let failure: unknown
  const onFailure = (error: unknown) => {
    failure = error
  }
  const options = { role: 'web', number: 0, seed: 0, env, onKill: async () => undefined, onFailure } as const
  const web = new RespawningProcess(options, 'keep')
  try {
    if (!(await respondsAt(`${url}/health`, startMs, () => failure === undefined)))
      throw failure ?? new Error('the web process does not answer')
    const takers = await Promise.all(
      Array.from({ length: count }, async () => {
        const email = `${randomBytes(8).toString('hex')}@example.com`
        return { ...(await register(url, email)), email, holder: Keypair.generate() }
      }),
    )
    await provision()
    const wallets = await walletsOf(
      db,
      takers.map(({ userId }) => userId),
    )
    for (const taker of takers) await addPayoutWallet(needs, taker)
    return takers.map((taker) => ({ ...taker, wallet: wallets.get(taker.userId) ?? '', tipped: 0n }))
  } finally {
    await web.end()
  }
}

async function provisionAll(services: Composed, key: Buffer): Promise<void> {
  const provision = createProvisionerBatch({ ...services, vault: createConfiguredVault(key) })
  for (let taken = 1; taken > 0; ) taken = (await provision()).taken
}

/** Custody wallets by user. */
async function walletsOf(db: Knex, userIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const rows: { user_id: string; public_key: string }[] = await db('wallets').whereIn('user_id', userIds)
  return new Map(rows.map(({ user_id, public_key }) => [user_id, public_key]))
}

async function createCreators(
  { db }: Composed,
  count: number,
  provision: () => Promise<void>,
): Promise<CustodyCreator[]> {
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
  await provision()
  const wallets = await walletsOf(
    db,
    users.map(({ id }) => id),
  )
  return [...wallets].map(([userId, wallet]) => ({ userId, wallet, tipped: 0n }))
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

/** What must be in the creator's custody: the balances, without what a signed take-out may have moved already. */
export async function owedTo({ services }: CustodyWorld, userId: string): Promise<bigint> {
  const [row] = await query<{ units: string }>(services.db, {
    name: 'faults.owed',
    text: /* sql */ `
      select (coalesce((select sum(balance) from ledger_accounts where user_id = $1 and currency = 'USDC'), 0)
        - coalesce((select sum(amount) from wallet_transfers where user_id = $1 and mint = $2 and state = 'signed'), 0))::text as units`,
    values: [userId, usdc.mint],
  })
  return BigInt(row?.units ?? 0)
}
