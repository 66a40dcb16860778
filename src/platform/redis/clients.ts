import { Cluster, Redis } from 'ioredis'

export type RedisClient = Redis | Cluster

const retryMs = (attempt: number): number => Math.min(attempt * 100, 1000)

/** For requests and transactions. Fails immediately while Redis is unavailable: no request may wait for Redis. */
export function createProducerClient(url: string): RedisClient {
  return open(url, { enableOfflineQueue: false, commandTimeout: 250, maxRetriesPerRequest: 1 })
}

export interface WorkerClient {
  readonly client: RedisClient
  disconnect(): void
}

/**
 * For a BullMQ worker, whose blocking commands wait without a time limit. BullMQ duplicates the connection and cannot
 * close the copy while Redis is unavailable, so `disconnect` closes both.
 */
export function createWorkerClient(url: string): WorkerClient {
  const client = open(url, { maxRetriesPerRequest: null })
  const all: Pick<RedisClient, 'disconnect' | 'status'>[] = [client]
  const duplicate = client.duplicate.bind(client) as (...options: unknown[]) => RedisClient
  client.duplicate = (...options: unknown[]): never => {
    const copy = duplicate(...options)
    all.push(copy)
    return copy as never
  }
  return {
    client,
    disconnect() {
      for (const one of all) if (one.status !== 'end') one.disconnect()
    },
  }
}

/** For the one subscriber of a process. Subscribes again by itself after a reconnect. */
export function createSubscriberClient(url: string): RedisClient {
  return open(url, { maxRetriesPerRequest: null, autoResubscribe: true })
}

interface ClientOptions {
  enableOfflineQueue?: boolean
  commandTimeout?: number
  maxRetriesPerRequest?: number | null
  autoResubscribe?: boolean
}

/** Several addresses, separated by commas, are a cluster. Errors are not thrown; `status` shows them. */
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
