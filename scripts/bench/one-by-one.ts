import { Queue, Worker } from 'bullmq'
import pg from 'pg'
import { solMint, type Token, tokenByMint } from '../../src/kernel/tokens.js'
import { decodeTransaction } from '../../src/providers/chain/decode.js'
import { associatedAccount } from '../../src/providers/chain/transfer.js'
import { paymentTo } from '../../src/tips/payment.js'

export interface Reported {
  readonly signature: string
  readonly sender: string
  readonly recipient: string
}

/**
 * What one writes first: a BullMQ job for each tip, a `getTransaction` for each job, an UPDATE for each tip. It reads
 * balances as the product does, but knows no intents, ledger, streams or retries. Seconds until all are confirmed.
 */
export async function verifyOneByOne(
  { databaseUrl, redisUrl, rpcUrl }: { databaseUrl: string; redisUrl: string; rpcUrl: string },
  tips: readonly Reported[],
  concurrency: number,
): Promise<number> {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 10 })
  const { hostname: host, port } = new URL(redisUrl)
  const connection = { host, port: Number(port), maxRetriesPerRequest: null }
  const queue = new Queue('one-by-one', { connection })
  await queue.addBulk(tips.map((data) => ({ name: 'verify', data, opts: { removeOnComplete: true } })))
  let confirmed = 0
  const begun = performance.now()
  const worker = new Worker<Reported>(
    'one-by-one',
    async ({ data }) => {
      const how = { commitment: 'confirmed', encoding: 'base64', maxSupportedTransactionVersion: 1 }
      const body = { jsonrpc: '2.0', id: 0, method: 'getTransaction', params: [data.signature, how] }
      const headers = { 'content-type': 'application/json' }
      const response = await fetch(rpcUrl, { method: 'POST', headers, body: JSON.stringify(body) })
      const transaction = decodeTransaction(
        data.signature,
        ((await response.json()) as { result: unknown }).result,
      )
      const token = tokenByMint(solMint) as Token
      const payment =
        transaction && paymentTo({ associatedAccount }, transaction, data.recipient, token, data.sender)
      if (payment === undefined) throw new Error(`${data.signature} is no tip`)
      const text = `update peer_verified set received = $2, status = 'confirmed' where id = $1 and status = 'pending'`
      await pool.query({ name: 'confirm', text, values: [data.signature, payment.received] })
      confirmed += 1
    },
    { connection, concurrency, maxStalledCount: 50 },
  )
  await new Promise<void>((done) => {
    worker.on('completed', () => {
      if (confirmed === tips.length) done()
    })
  })
  const seconds = (performance.now() - begun) / 1000
  await worker.close()
  await queue.close()
  await pool.end()
  return seconds
}
