import { setTimeout as pause } from 'node:timers/promises'
import type { Config } from '../../../../src/platform/config/config.js'
import { createProducerClient } from '../../../../src/platform/redis/clients.js'
import { type Check, check, type Finding, findingsOr, isLocal } from './check.js'

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
  const [kind, policy, nodes] = [value('redis_mode'), value('maxmemory_policy'), url.split(',')]
  const encrypted = nodes.some((node) => node.startsWith('rediss:'))
  const evicts = policy !== '' && policy !== 'noeviction' && value('maxmemory') !== '0'
  return findingsOr(
    `Redis ${value('redis_version')}, ${kind}${encrypted ? ', with TLS' : ''}`,
    kind === 'cluster' &&
      !cluster && ['wrong', 'the server is a node of a cluster: add ?cluster=true to REDIS_URL'],
    kind === 'sentinel' && ['wrong', 'this is a sentinel: give the address of the server that it watches'],
    value('role') === 'slave' &&
      !cluster && ['wrong', 'this is a replica, which takes no writes: give the address of the master'],
    evicts && ['warning', `maxmemory-policy is ${policy}: BullMQ needs noeviction`],
    !encrypted && !nodes.every(isLocal) && ['warning', 'the connection is not encrypted: use rediss://'],
    encrypted &&
      tls.insecure && ['warning', 'insecure=true: anybody on the way may answer as Redis; use ca=<file>'],
  )
}
