import { randomBytes } from 'node:crypto'
import { Keypair } from '@solana/web3.js'
import { encodeBase58 } from '../../src/kernel/base58.js'
import { solMint } from '../../src/kernel/tokens.js'
import { faucetOf, requestAirdrop } from '../sandbox/chain/faucet.js'
import { startSandbox } from '../sandbox/server.js'
import { type Load, postBytes, sendRequests } from './load.js'
import {
  type BenchOptions,
  type Column,
  measureRounds,
  outcomeOf,
  type Round,
  section,
} from './measurement.js'
import { type BenchServers, countStatements, onServers, type Served, type Use, useOf } from './servers.js'

const connectionsMost = 64
const secondsEach = 4
const recipients = 16
const oneSol = 1_000_000_000n

/** What is loaded: `next` returns the bytes of a request. */
interface Target extends Served {
  readonly next: () => string
}

type Measured = Load & Use

/**
 * Compares `POST /chain/tips/create` of the whole service (validation, request ids, metrics, error answers) with a plain Koa and a plain
 * Fastify server with one INSERT each. All use one PostgreSQL and are measured in turn.
 */
export function benchRecord({ rounds = 5 }: BenchOptions) {
  return onServers(async (servers) => {
    const service = await servers.serveWeb()
    const targets = {
      service: { ...service, next: recording(service.url) },
      koa: await startPeer(servers, 'koa'),
      fastify: await startPeer(servers, 'fastify'),
    }
    const columns: Column<keyof typeof targets, Measured>[] = [
      ...ownColumns,
      { head: 'of koa', digits: 2, of: (own, { koa }) => own.perSecond / koa.perSecond },
      { head: 'of fastify', digits: 2, of: (own, { fastify }) => own.perSecond / fastify.perSecond },
      { head: 'p50 of koa', digits: 2, of: (own, { koa }) => own.p50Ms / koa.p50Ms },
      { head: 'us of koa', digits: 2, of: (own, { koa }) => cpuOf(own) / cpuOf(koa) },
    ]
    const many = await compareRequests(servers, targets, rounds, connectionsMost)
    const one = await compareRequests(servers, targets, rounds, 1)
    return outcomeOf(
      { [connectionsMost]: many, 1: one },
      [
        section(`${connectionsMost} connections`, many, columns, { '64 connections': 'service' }),
        section('1 connection', one, columns, { '1 connection': 'service' }),
      ],
      `${secondsEach} s`,
    )
  })
}

/** `POST /payments/intent`: builds and stores an unsigned transfer. The chain is the stand-in, in the process of the load. */
export function benchIntents({ rounds = 5 }: BenchOptions) {
  return onServers(async (servers) => {
    const treasury = Keypair.generate().publicKey.toBase58()
    const sandbox = await startSandbox({ port: 0, treasury })
    servers.defer(() => sandbox.close())
    const service = await servers.serveWeb({
      SOLANA_RPC_URLS: sandbox.url,
      PRICE_URL: `${sandbox.url}/price/v3`,
      TREASURY_WALLET: treasury,
    })
    const wallets = Array.from({ length: recipients }, () => Keypair.generate().publicKey.toBase58())
    for (const wallet of wallets) requestAirdrop(sandbox.chain, wallet, oneSol)
    const common = { amount: 0.05, inputTokenMint: solMint }
    const sender = { sourceWalletAddress: faucetOf(sandbox.chain).publicKey.toBase58() }
    let serial = 0
    const next = (): string => {
      serial += 1
      const body = { creatorId: wallets[serial % recipients], ...common, ...sender }
      return postBytes(service.url, '/payments/intent', JSON.stringify(body))
    }
    const columns: Column<'service', Measured>[] = [
      ...ownColumns,
      { head: 'statements', digits: 1, of: ({ statements }) => statements, better: 'lower' },
    ]
    const targets = { service: { ...service, next } }
    const results = await compareRequests(servers, targets, rounds, connectionsMost)
    const intents = section('intent', results, columns, { intent: 'service' })
    return outcomeOf(results, [intents], `${secondsEach} s`, `${connectionsMost} connections`)
  }, countStatements)
}

const ownColumns = [
  { head: 'per s', digits: 0, of: ({ perSecond }: Measured) => perSecond, better: 'higher' },
  { head: 'p50 ms', digits: 2, of: ({ p50Ms }: Measured) => p50Ms, better: 'lower' },
  { head: 'p99 ms', digits: 2, of: ({ p99Ms }: Measured) => p99Ms },
  { head: 'us server', digits: 0, of: ({ serverUs }: Measured) => serverUs },
  { head: 'us db', digits: 0, of: ({ databaseUs }: Measured) => databaseUs },
  { head: 'us both', digits: 0, of: cpuOf, better: 'lower' },
  { head: 'failed', digits: 0, of: ({ failed }: Measured) => failed },
] as const

function cpuOf({ serverUs, databaseUs }: Measured): number {
  return serverUs + databaseUs
}

/** Loads each target in turns, after a warm-up. */
async function compareRequests<Name extends string>(
  servers: BenchServers,
  targets: Readonly<Record<Name, Target>>,
  rounds: number,
  connections: number,
): Promise<Round<Name, Measured>[]> {
  const names = Object.keys(targets) as Name[]
  for (const name of names) await sendRequests({ ...targets[name], connections: 16, seconds: 2 })
  return measureRounds(names, rounds, async (name) => {
    const { metricsUrl } = targets[name]
    const before = await servers.used(metricsUrl)
    const load = await sendRequests({ ...targets[name], connections, seconds: secondsEach })
    const use = useOf(load.perSecond * secondsEach, before, await servers.used(metricsUrl))
    return { ...load, ...use }
  })
}

/** Recording with one insert and one durable commit in a bare framework. */
async function startPeer(servers: BenchServers, name: 'koa' | 'fastify'): Promise<Target> {
  await servers.sql(
    'create table if not exists peer_tips (id text primary key, creator_wallet text not null, sender text not null, amount numeric not null, created_at timestamptz not null default now())',
  )
  const url = await servers.serve(name, ['dist/scripts/bench/peers.js', name], {})
  return { url, metricsUrl: url, next: recording(url) }
}

/** Requests that record tips with new signatures: base58 of 64 bytes whose last ten digits are a counter. */
function recording(url: string): () => string {
  const wallet = encodeBase58(randomBytes(32))
  const start = `2${encodeBase58(randomBytes(64)).slice(1, 78).padEnd(77, '1')}`
  const place = 's'.repeat(start.length + 10)
  const body = { creatorWallet: wallet, tipAmount: 1_000_000_000, senderWallet: wallet, txSignature: place }
  const [head = '', end = ''] = postBytes(url, '/chain/tips/create', JSON.stringify(body)).split(place)
  let serial = 0
  return () => {
    serial += 1
    return `${head}${start}${String(serial).replaceAll('0', 'z').padStart(10, '1')}${end}`
  }
}
