import { randomBytes } from 'node:crypto'
import { type Composed, compose } from '../../src/compose.js'
import { solMint } from '../../src/kernel/tokens.js'
import { loadConfig } from '../../src/platform/config/config.js'
import { createVerifierBatch } from '../../src/tips/verify/verify-tips.js'
import { say } from '../bootstrap/progress.mjs'
import { openGround, serviceSettings } from './ground.js'
import type { LandedClaim } from './landed.js'
import { verifyOneByOne } from './one-by-one.js'
import { inTurn, median } from './rounds.js'

const rounds = 5
const tips = 8192
/** One at a time takes a network's time for each. */
const tipsAlone = 64
const treasury = 'DRpbCBMxVnDK7maPM5tGv6MvB3v1sRMC86PZ8okm21hy'
const goals =
  'goals: either way of the service >= 7 of one job, one call; calls per tip <= 0.05 issued, <= 1.05 read'

interface Measured {
  readonly perSecond: number
  readonly callsPerTip: number
}

const names = ['issued', 'read', 'one by one, 50 at once', 'one by one'] as const
type Name = (typeof names)[number]
type Round = Record<Name, Measured>

/**
 * The verifier beside one job and one call for each tip, in turn, on one PostgreSQL, one Redis and one node that takes
 * 20 to 50 ms for every request. `issued`: unaltered transfers of our intents, proven locally. `read`: the same
 * transactions without an intent, read from the node.
 */
export async function benchVerify(): Promise<{ table: string; results: unknown }> {
  const ground = await openGround()
  try {
    const rpcUrl = await ground.serve('node', ['dist/scripts/bench/rpc-node.js', String(tips), treasury], {})
    say(`signing ${tips} tips`)
    const landed = (await (await fetch(`${rpcUrl}/claims`)).json()) as LandedClaim[]
    await ground.sql(
      `create table peer_verified (id text primary key, status text not null default 'pending', received bigint)`,
    )
    const settings = { ...serviceSettings(ground), SOLANA_RPC_URLS: rpcUrl, TREASURY_WALLET: treasury }
    const services = compose(loadConfig(settings), 'bench')
    const peer = async (some: readonly LandedClaim[], concurrency: number): Promise<Measured> => {
      await services.db.raw('truncate peer_verified')
      await services.db.batchInsert(
        'peer_verified',
        some.map(({ signature: id }) => ({ id })),
        1000,
      )
      const seconds = await verifyOneByOne({ ...ground, rpcUrl }, some, concurrency)
      return { perSecond: some.length / seconds, callsPerTip: 1 }
    }
    const ways: Record<Name, () => Promise<Measured>> = {
      issued: () => drainAll(services, landed, true),
      read: () => drainAll(services, landed, false),
      'one by one, 50 at once': () => peer(landed, 50),
      'one by one': () => peer(landed.slice(0, tipsAlone), 1),
    }
    await drainAll(services, landed, false)
    const results: Round[] = []
    for (let round = 1; round <= rounds; round++) results.push(await measure(ways, round))
    await services.close()
    return { table: tableOf(results), results }
  } finally {
    await ground.close()
  }
}

async function measure(ways: Record<Name, () => Promise<Measured>>, round: number): Promise<Round> {
  const measured: Partial<Round> = {}
  for (const name of inTurn(names, round)) {
    measured[name] = await ways[name]()
    say(`round ${round} of ${rounds}, ${name}: ${Math.round(measured[name]?.perSecond ?? 0)} tips/s`)
  }
  return measured as Round
}

/** The whole product: claims as recorded, stopped to the end, with facts, sessions, ledger and order of events. */
async function drainAll(
  services: Composed,
  landed: readonly LandedClaim[],
  issued: boolean,
): Promise<Measured> {
  const { db, metrics } = services
  await db.raw('truncate tips, tip_claims, payment_intents cascade')
  if (issued) await storeIntents(services, landed)
  const rows = landed.map(({ signature, sender, recipient, net, fee }) => ({
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
  const begun = performance.now()
  const batch = createVerifierBatch(services)
  while ((await batch()).taken > 0);
  const seconds = (performance.now() - begun) / 1000
  const confirmed = await db('tips').where({ status: 'confirmed' }).select('id')
  if (confirmed.length !== landed.length)
    throw new Error(`only ${confirmed.length} of ${landed.length} tips were confirmed`)
  return {
    perSecond: landed.length / seconds,
    callsPerTip: ((await calls(metrics)) - before) / landed.length,
  }
}

async function storeIntents({ db }: Composed, landed: readonly LandedClaim[]): Promise<void> {
  await db.raw('insert into parties (wallet) select unnest(?::text[]) on conflict do nothing', [
    [...new Set(landed.map(({ recipient }) => recipient))],
  ])
  const parties: { wallet: string; id: bigint }[] = await db('parties').select('wallet', 'id')
  const ids = new Map(parties.map(({ wallet, id }) => [wallet, id]))
  const rows = landed.map(({ signature, sender, recipient, referenceKey, net, fee, issued }) => ({
    id: `pi_${signature}`,
    recipient_party: ids.get(recipient),
    payout_wallet: recipient,
    source_wallet: sender,
    input_mint: solMint,
    input_raw: net + fee,
    output_mint: solMint,
    expected_raw: net,
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

function tableOf(results: readonly Round[]): string {
  const of = (read: (round: Round) => number): number => median(results.map(read))
  const lines = names.map((name) => {
    const cells = [
      name.padEnd(24),
      String(Math.round(of((round) => round[name].perSecond))).padStart(8),
      of((round) => round[name].callsPerTip)
        .toFixed(4)
        .padStart(12),
      of((round) => round[name].perSecond / round['one by one, 50 at once'].perSecond)
        .toFixed(2)
        .padStart(14),
      of((round) => round[name].perSecond / round['one by one'].perSecond)
        .toFixed(1)
        .padStart(16),
    ]
    return cells.join('')
  })
  const header = `${'way'.padEnd(24)}  tips/s  calls/tip  of 50 at once  of one at a time`
  return [
    header,
    ...lines,
    goals,
    `medians of ${rounds} rounds of ${tips} tips; ratios are medians of the rounds' own ratios`,
  ].join('\n')
}
