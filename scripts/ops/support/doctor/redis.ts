import { setTimeout as pause } from 'node:timers/promises'
import type { Config } from '../../../../src/platform/config/config.js'
import { createProducerClient } from '../../../../src/platform/redis/clients.js'
import { type Check, check, type Finding, isLocal } from './check.js'

const connectMs = 5000
const pollMs = 50

/** Redis may be away: the service then works more slowly. A wrong kind or a wrong password is nevertheless a fault. */
export function checkRedis({ redis }: Config): Promise<readonly Check[]> {
  return check('redis', async () => {
    let reason: string | undefined
    const client = createProducerClient(redis, (text) => {
      reason = text
    })
    try {
      for (const end = performance.now() + connectMs; client.status !== 'ready'; await pause(pollMs))
        if (reason !== undefined || performance.now() > end)
          return [['wrong', hintFor(reason ?? 'no answer within 5 s', redis)]]
      return findServer(String(await client.info()), redis)
    } finally {
      client.disconnect()
    }
  })
}

function hintFor(reason: string, { cluster }: Config['redis']): string {
  if (cluster && /cluster support disabled/i.test(reason))
    return 'the server is not a cluster: give one address, without cluster=true'
  if (/certificate|self-signed/i.test(reason)) return `${reason}: add ?ca=<file of its CA> to REDIS_URL`
  return reason
}

function findServer(info: string, { url, cluster, tls }: Config['redis']): readonly Finding[] {
  const value = (name: string): string => new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1] ?? ''
  const kind = value('redis_mode')
  const found: Finding[] = []
  if (kind === 'cluster' && !cluster)
    found.push(['wrong', 'the server is a node of a cluster: add ?cluster=true to REDIS_URL'])
  if (kind === 'sentinel')
    found.push(['wrong', 'this is a sentinel: give the address of the server that it watches'])
  if (value('role') === 'slave' && !cluster)
    found.push(['wrong', 'this is a replica, which takes no writes: give the address of the master'])
  const policy = value('maxmemory_policy')
  if (policy !== '' && policy !== 'noeviction' && value('maxmemory') !== '0')
    found.push(['warning', `maxmemory-policy is ${policy}: BullMQ needs noeviction`])
  const nodes = url.split(',')
  const encrypted = nodes.some((node) => node.startsWith('rediss:'))
  if (!encrypted && !nodes.every(isLocal))
    found.push(['warning', 'the connection is not encrypted: use rediss://'])
  if (encrypted && tls.insecure)
    found.push(['warning', 'insecure=true: anybody on the way may answer as Redis; use ca=<file>'])
  if (found.length > 0) return found
  return [['ok', `Redis ${value('redis_version')}, ${kind}${encrypted ? ', with TLS' : ''}`]]
}
