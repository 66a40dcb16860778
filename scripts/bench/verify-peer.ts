import { Queue, Worker } from 'bullmq'
import pg from 'pg'
import { solMint, type Token, tokenByMint } from '../../src/kernel/tokens.js'
import { associatedAccount } from '../../src/providers/solana/build-transfer.js'
import { decodeTransaction } from '../../src/providers/solana/decode-transaction.js'
import { findPayment } from '../../src/tips/verify/balance-changes.js'
import type { SignedTipClaim } from './rpc-node.js'

type Reported = Pick<SignedTipClaim, 'signature' | 'sender' | 'recipient'>

/**
 * The peer of the verifier, its simplest implementation: one BullMQ job, one `getTransaction` and one UPDATE per tip. It
 * compares balances like the service, but has no intents, ledger, streams or retries. Returns the seconds until all tips
 * are confirmed.
 */
export async function verifyOneByOne(
  { databaseUrl, redisUrl, rpcUrl }: { databaseUrl: string; redisUrl: string; rpcUrl: string },
  tips: readonly Reported[],
): Promise<number> {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 10 })
  const { hostname: host, port } = new URL(redisUrl)
  const connection = { host, port: Number(port), maxRetriesPerRequest: null }
  const queue = new Queue('one-by-one', { connection })
  await queue.addBulk(
    tips.map(({ signature, sender, recipient }) => ({
      name: 'verify',
      data: { signature, sender, recipient },
      opts: { removeOnComplete: true },
    })),
  )
  const startedAt = performance.now()
  const work = { connection, concurrency: 50, maxStalledCount: 50 }
  const worker = new Worker<Reported>('one-by-one', ({ data }) => verifyOne(pool, rpcUrl, data), work)
  try {
    await waitForJobs(worker, tips.length)
    return (performance.now() - startedAt) / 1000
  } finally {
    await worker.close()
    await queue.close()
    await pool.end()
  }
}

async function verifyOne(
  pool: pg.Pool,
  rpcUrl: string,
  { signature, sender, recipient }: Reported,
): Promise<void> {
  const options = { commitment: 'confirmed', encoding: 'base64', maxSupportedTransactionVersion: 1 }
  const body = { jsonrpc: '2.0', id: 0, method: 'getTransaction', params: [signature, options] }
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(rpcUrl, { method: 'POST', headers, body: JSON.stringify(body) })
  const transaction = decodeTransaction(signature, ((await response.json()) as { result: unknown }).result)
  const token = tokenByMint(solMint) as Token
  const payment = transaction && findPayment({ associatedAccount }, transaction, recipient, token, [sender])
  if (payment === undefined) throw new Error(`${signature} is not a tip`)
  const text = `update peer_verified set received = $2, status = 'confirmed' where id = $1 and status = 'pending'`
  await pool.query({ name: 'confirm', text, values: [signature, payment.received] })
}

/** Resolves when all jobs are done. Rejects when one fails, because the node knows every tip. */
function waitForJobs(worker: Worker<Reported>, count: number): Promise<void> {
  return new Promise((resolve, reject) => {
    let done = 0
    worker.on('failed', (_job, error) => reject(error))
    worker.on('completed', () => {
      done += 1
      if (done === count) resolve()
    })
  })
}
