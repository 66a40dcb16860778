import { setTimeout as sleep } from 'node:timers/promises'
import { solMint } from '../../../src/kernel/tokens.js'
import { printProgress } from '../../bootstrap/progress.mjs'
import { waitUntil } from '../../dev/wait-until.js'
import type { Creator } from '../../faults/client.js'
import { faucetOf, requestAirdrop } from '../../sandbox/chain/faucet.js'
import type { Outcome } from '../outcome.js'
import { post } from '../post.js'
import { startServers } from '../servers.js'
import { type Kind, kinds, openStage, type Stage, type Used } from './stage.js'

const count = 400
const warmUps = 40
const idleSeconds = 15
const endMs = 180_000
const lamports = 10_000_000n

interface Operation {
  /** Does one. `serial` is its number. */
  one(stage: Stage, creator: Creator, serial: number): Promise<void>
  /** How many have not ended. */
  readonly openSql: string
}

/** Each from the first request to its end: a tip finalized, a naira tip credited, a withdrawal paid. */
const operations: Record<string, Operation> = {
  'tip in crypto': {
    async one({ url, sandbox, db }, { userId }, serial) {
      const { rows } = await db.raw('select wallet from parties where user_id = ?', [userId])
      const { wallet } = rows[0]
      const sender = faucetOf(sandbox.chain).publicKey.toBase58()
      await post(`${url}/payments/intent`, {
        creatorId: userId,
        amount: 0.05,
        inputTokenMint: solMint,
        sourceWalletAddress: sender,
      })
      const txSignature = requestAirdrop(sandbox.chain, wallet, lamports + BigInt(serial))
      await post(`${url}/chain/tips/create`, {
        creatorWallet: wallet,
        senderWallet: sender,
        tipAmount: Number(lamports) + serial,
        txSignature,
        message: 'Thank you for the show',
      })
    },
    openSql: `select count(*)::int as n from tips where kind = 'chain' and finalized_at is null`,
  },
  'tip in naira': {
    async one({ url, sandbox }, { userId }) {
      const tip = { creatorId: userId, amount: 10, senderName: 'Bola', memo: 'Thank you for the show' }
      const { intentId } = await post(`${url}/payments/fiat/intent`, tip)
      await post(`${sandbox.url}/dev/fiatpay/charges/${intentId}`, { outcome: 'paid' })
    },
    openSql: `select count(*)::int as n from tips where kind = 'fiat' and status = 'pending'`,
  },
  withdrawal: {
    async one({ url }, { cookie, userId }) {
      const accountName = `Ada ${userId.slice(0, 8).replace(/\d/g, 'x')}`
      const account = { bankCode: '058', accountNumber: '0123456789', accountName, amountUSDC: 2 }
      await post(`${url}/payouts/withdraw`, account, cookie)
    },
    openSql: `select count(*)::int as n from withdrawals where status not in ('completed', 'failed')`,
  },
}

/** For one operation: CPU in ms by process kind, bytes, calls to the node. */
interface Cost {
  readonly count: number
  readonly seconds: number
  readonly cpuMs: Record<Kind, number>
  readonly dataBytes: number
  readonly walBytes: number
  readonly rpcCalls: number
}

/**
 * What one tip, one naira tip and one withdrawal cost from beginning to end, all processes running: the figures of docs/sizing.md. What
 * the idle processes use in the same time is taken off.
 */
export async function benchCosts(): Promise<Outcome> {
  const servers = await startServers()
  const stage = await openStage(servers).catch(async (error) => {
    await servers.close()
    throw error
  })
  try {
    const provisioned = `select count(*)::int as n from users u where not exists (select from parties p where p.user_id = u.id and p.wallet is not null)`
    await untilNone(stage, provisioned)
    // Warms up: each process has done its work before.
    for (const [name, operation] of Object.entries(operations)) await run(stage, name, operation, warmUps)
    printProgress(`idle for ${idleSeconds} s`)
    const before = await stage.used()
    await sleep(idleSeconds * 1000)
    const idle = await stage.used()
    const idlePerSecond = (kind: Kind): number => (idle.cpu[kind] - before.cpu[kind]) / idleSeconds
    const costs: Record<string, Cost> = {}
    for (const [name, operation] of Object.entries(operations))
      costs[name] = await run(stage, name, operation, count, idlePerSecond)
    const idleMs = Object.fromEntries(kinds.map((kind) => [kind, idlePerSecond(kind) * 1000]))
    return { table: tableOf(costs, idleMs), results: { costs, idleMsPerSecond: idleMs } }
  } finally {
    await stage.close()
    await servers.close()
  }
}

async function run(
  stage: Stage,
  name: string,
  { one, openSql }: Operation,
  count: number,
  idlePerSecond: (kind: Kind) => number = () => 0,
): Promise<Cost> {
  printProgress(`${count} times: ${name}`)
  await stage.db.raw('checkpoint')
  const before = await stage.used()
  const startedAt = performance.now()
  let serial = 0
  const repeat = async (creator: Creator): Promise<void> => {
    while (serial < count) {
      serial += 1
      await one(stage, creator, serial)
    }
  }
  await Promise.all(stage.creators.map(repeat))
  await untilNone(stage, openSql)
  const after = await stage.used()
  return costOf(before, after, count, (performance.now() - startedAt) / 1000, idlePerSecond)
}

function costOf(
  before: Used,
  after: Used,
  count: number,
  seconds: number,
  idlePerSecond: (kind: Kind) => number,
): Cost {
  const ms = (kind: Kind): number =>
    (Math.max(0, after.cpu[kind] - before.cpu[kind] - idlePerSecond(kind) * seconds) * 1000) / count
  return {
    count,
    seconds,
    cpuMs: Object.fromEntries(kinds.map((kind) => [kind, ms(kind)])) as Record<Kind, number>,
    dataBytes: (after.dataBytes - before.dataBytes) / count,
    walBytes: (after.walBytes - before.walBytes) / count,
    rpcCalls: (after.rpcCalls - before.rpcCalls) / count,
  }
}

async function untilNone({ db }: Stage, sql: string): Promise<void> {
  const none = async (): Promise<boolean> => (await db.raw(sql)).rows[0].n === 0
  if (!(await waitUntil(none, endMs))) throw new Error(`not within ${endMs / 1000} s: ${sql}`)
}

function tableOf(costs: Readonly<Record<string, Cost>>, idleMs: Readonly<Record<string, number>>): string {
  const line = (name: string, cells: readonly string[]): string =>
    name.padEnd(22) + cells.map((cell) => cell.padStart(12)).join('')
  return [
    line('CPU ms for one', [...kinds]),
    ...Object.entries(costs).map(([name, { cpuMs }]) =>
      line(
        name,
        kinds.map((kind) => cpuMs[kind].toFixed(2)),
      ),
    ),
    line(
      'idle, ms a second',
      kinds.map((kind) => (idleMs[kind] ?? 0).toFixed(1)),
    ),
    line('for one', ['data bytes', 'log bytes', 'RPC calls', 'seconds']),
    ...Object.entries(costs).map(([name, { dataBytes, walBytes, rpcCalls, seconds }]) =>
      line(name, [
        dataBytes.toFixed(0),
        walBytes.toFixed(0),
        rpcCalls.toFixed(2),
        `${seconds.toFixed(1)} all`,
      ]),
    ),
    `means of ${Object.values(costs)[0]?.count} each, by eight creators at a time; what idle processes use is taken off`,
  ].join('\n')
}
