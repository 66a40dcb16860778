import { Cluster, Redis } from 'ioredis'

export type RedisClient = Redis | Cluster

const retryMs = (attempt: number): number => Math.min(attempt * 100, 1000)

/** For requests and transactions: fails at once, nothing in a request may wait for Redis. */
export function createProducerClient(url: string): RedisClient {
  return open(url, { enableOfflineQueue: false, commandTimeout: 250, maxRetriesPerRequest: 1 })
}

/** For BullMQ workers, whose blocking commands wait for ever by design. */
export function createWorkerClient(url: string): RedisClient {
  return open(url, { maxRetriesPerRequest: null })
}

/** For the one subscriber of a process: subscriptions come back by themselves after a reconnect. */
export function createSubscriberClient(url: string): RedisClient {
  return open(url, { maxRetriesPerRequest: null, autoResubscribe: true })
}

interface ClientOptions {
  enableOfflineQueue?: boolean
  commandTimeout?: number
  maxRetriesPerRequest?: number | null
  autoResubscribe?: boolean
}

/** Several addresses, separated by commas, are a cluster. Errors are states here, not events: `status` tells. */
function open(url: string, options: ClientOptions): RedisClient {
  const nodes = url.split(',')
  const client =
    nodes.length > 1
      ? new Cluster(nodes, {
          redisOptions: options,
          enableOfflineQueue: options.enableOfflineQueue ?? true,
          clusterRetryStrategy: retryMs,
        })
      : new Redis(url, { ...options, retryStrategy: retryMs })
  client.on('error', () => undefined)
  return client
}
