import { randomBytes } from 'node:crypto'
import { encodeBase58 } from '../../../src/kernel/base58.js'
import { postHead } from '../load.js'
import type { Servers } from '../servers.js'
import type { Target } from './compare.js'

/** The floor: recording with one insert and one durable commit in bare Koa, as in `npm run bench -- record`. */
export async function startKoaFloor(servers: Servers): Promise<Target> {
  await servers.sql(
    'create table peer_tips (id text primary key, creator_wallet text not null, sender text not null, amount numeric not null, created_at timestamptz not null default now())',
  )
  const url = await servers.serve('koa', ['dist/scripts/bench/record-peers.js', 'koa'], {})
  const creatorWallet = encodeBase58(randomBytes(32))
  let serial = 0
  const next = (): string => {
    serial += 1
    const txSignature = `${creatorWallet}${serial}`
    return postJson(url, '/chain/tips/create', {
      creatorWallet,
      tipAmount: 1,
      senderWallet: creatorWallet,
      txSignature,
    })
  }
  return { url, metricsUrl: url, next }
}

/** The bytes of a POST with a JSON body. */
export function postJson(url: string, path: string, body: unknown, headers = ''): string {
  const text = JSON.stringify(body)
  return postHead(url, path, Buffer.byteLength(text), headers) + text
}
