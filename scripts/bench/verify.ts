import { randomBytes } from 'node:crypto'
import { type Composed, compose } from '../../src/compose.js'
import { solMint } from '../../src/kernel/tokens.js'
import { loadConfig } from '../../src/platform/config/config.js'
import { createVerifierBatch } from '../../src/tips/verify-tips.js'
import { printProgress } from '../bootstrap/progress.mjs'
import { serviceSettings } from '../kit/service-settings.js'
import { type BenchOptions, type Column, measureRounds, outcomeOf, section } from './measurement.js'
import type { SignedTipClaim } from './rpc-node.js'
import { onServers } from './servers.js'
import { verifyOneByOne } from './verify-peer.js'

const defaultRounds = 5
const tips = 8192
const treasury = 'DRpbCBMxVnDK7maPM5tGv6MvB3v1sRMC86PZ8okm21hy'

interface Measured {
  readonly perSecond: number
  readonly callsPerTip: number
}

const names = ['issued', 'read', 'one by one, 50 at once'] as const
type Name = (typeof names)[number]
const columns: Column<Name, Measured>[] = [
  { head: 'tips per s', digits: 0, of: ({ perSecond }) => perSecond, better: 'higher' },
  { head: 'calls per tip', digits: 4, of: ({ callsPerTip }) => callsPerTip, better: 'lower' },
  {
    head: 'of 50 at once',
    digits: 2,
    of: (own, round) => own.perSecond / round['one by one, 50 at once'].perSecond,
  },
]

/**
 * Compares the verifier with one job and one call per tip. Both use one PostgreSQL, one Redis and a node that takes 20 to
 * 50 ms per request, and are measured in turn. `issued`: unaltered transactions of payment intents, verified without reading
 * them from the node. `read`: the same transactions without an intent, read from the node.
 */
export function benchVerify({ rounds = defaultRounds }: BenchOptions) {
  return onServers(async (servers) => {
    const rpcUrl = await servers.serve('node', ['dist/scripts/bench/rpc-node.js', String(tips), treasury], {})
    printProgress(`signing ${tips} tips`)
    const signed = (await (await fetch(`${rpcUrl}/claims`)).json()) as SignedTipClaim[]
    await servers.sql(
      `create table peer_verified (id text primary key, status text not null default 'pending', received bigint)`,
    )
    const settings = { ...serviceSettings(servers), SOLANA_RPC_URLS: rpcUrl, TREASURY_WALLET: treasury }
    const services = compose(loadConfig(settings), 'bench')
    servers.defer(() => services.close())
    const measurements: Record<Name, () => Promise<Measured>> = {
      issued: () => verifyAll(services, signed, true),
      read: () => verifyAll(services, signed, false),
      async 'one by one, 50 at once'() {
        await services.db.raw('truncate peer_verified')
        const rows = signed.map(({ signature: id }) => ({ id }))
        await services.db.batchInsert('peer_verified', rows, 1000)
        const seconds = await verifyOneByOne({ ...servers, rpcUrl }, signed)
        return { perSecond: signed.length / seconds, callsPerTip: 1 }
      },
    }
    await verifyAll(services, signed, false)
    const results = await measureRounds(names, rounds, (name) => measurements[name]())
    const verified = section('verification', results, columns, { issued: 'issued', read: 'read' })
    return outcomeOf(results, [verified], `${tips} tips`)
  })
}

/** Verifies all claims with the service, with facts, ledger and the order of events. */
async function verifyAll(
  services: Composed,
  signed: readonly SignedTipClaim[],
  issued: boolean,
): Promise<Measured> {
  const { db, metrics } = services
  await db.raw('truncate tips, tip_claims, payment_intents cascade')
  if (issued) await storeIntents(services, signed)
  const rows = signed.map(({ signature, sender, recipient, net, fee }) => ({
    id: signature,
    kind: 'chain',
    creator_wallet: recipient,
    sender,
    amount: String((net + fee) / 1e9),
    token_symbol: 'SOL',
    claim_hash: randomBytes(32),
  }))
  await db.batchInsert('tips', rows, 1000)
  await db.raw('analyze tips, payment_intents')
  const before = await calls(metrics)
  const startedAt = performance.now()
  const batch = createVerifierBatch(services)
  while ((await batch()).taken > 0);
  const seconds = (performance.now() - startedAt) / 1000
  const confirmed = await db('tips').where({ status: 'confirmed' }).select('id')
  if (confirmed.length !== signed.length)
    throw new Error(`only ${confirmed.length} of ${signed.length} tips were confirmed`)
  return {
    perSecond: signed.length / seconds,
    callsPerTip: ((await calls(metrics)) - before) / signed.length,
  }
}

async function storeIntents({ db }: Composed, signed: readonly SignedTipClaim[]): Promise<void> {
  await db.raw('insert into parties (wallet) select unnest(?::text[]) on conflict do nothing', [
    [...new Set(signed.map(({ recipient }) => recipient))],
  ])
  const parties: { wallet: string; id: bigint }[] = await db('parties').select('wallet', 'id')
  const ids = new Map(parties.map(({ wallet, id }) => [wallet, id]))
  const rows = signed.map(({ signature, sender, recipient, referenceKey, net, fee, issued }) => ({
    id: `pi_${signature}`,
    recipient_party: ids.get(recipient),
    payout_wallet: recipient,
    source_wallet: sender,
    input_mint: solMint,
    input_raw: net + fee,
    output_mint: solMint,
    expected_raw: net,
    least_raw: net,
    fee_raw: fee,
    amount_usd_cents: 100,
    token_symbol: 'SOL',
    provider: 'direct-transfer',
    execution_mode: 'sync',
    reference_key: referenceKey,
    transaction: Buffer.from(issued, 'base64'),
    last_valid_block_height: 1,
  }))
  await db.batchInsert('payment_intents', rows, 500)
}

async function calls({ rpcCalls }: Composed['metrics']): Promise<number> {
  return (await rpcCalls.get()).values.reduce((sum, { value }) => sum + value, 0)
}
