import type { ConnectionOptions } from 'node:tls'
import { Cluster, Redis, type RedisOptions } from 'ioredis'

export type RedisClient = Redis | Cluster

/** Where Redis is. `cluster`: the addresses are nodes of one. */
export interface RedisServer {
  /** One address, or several separated by commas. */
  readonly url: string
  readonly cluster?: boolean
  /** `ca`: certificates (PEM) that are trusted instead of the system's. `insecure`: any certificate is. */
  readonly tls?: { readonly ca?: string | undefined; readonly insecure?: boolean }
}

/** Called with the reason when Redis becomes unavailable, and without one when it is back. */
export type OnRedisState = (reason: string | undefined) => void

/**
 * A connection on which a command waits so long is replaced. A server that has vanished ends none: the operating system tries for a quarter
 * of an hour to send what it got.
 */
const silentMs = 5000
/** BullMQ's blocking commands are answered within ten seconds. */
const silentWorkerMs = 30_000

const retryMs = (attempt: number): number => Math.min(attempt * 100, 1000)

/** For requests and transactions. Fails immediately while Redis is unavailable: no request may wait for Redis. */
export function createProducerClient(server: RedisServer, onState?: OnRedisState): RedisClient {
  const options = {
    enableOfflineQueue: false,
    commandTimeout: 250,
    maxRetriesPerRequest: 1,
    socketTimeout: silentMs,
  }
  return open(server, options, onState)
}

export interface WorkerClient {
  readonly client: RedisClient
  disconnect(): void
}

/**
 * For a BullMQ worker, whose blocking commands wait without a time limit. BullMQ duplicates the connection and cannot
 * close the copy while Redis is unavailable, so `disconnect` closes both.
 */
export function createWorkerClient(server: RedisServer): WorkerClient {
  const client = open(server, { maxRetriesPerRequest: null, socketTimeout: silentWorkerMs })
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

/** For the one subscriber of a process, which subscribes again itself whenever the client is `ready`. */
export function createSubscriberClient(server: RedisServer): RedisClient {
  return open(server, { maxRetriesPerRequest: null, autoResubscribe: false, socketTimeout: silentMs })
}

type ClientOptions = Pick<
  RedisOptions,
  | 'enableOfflineQueue'
  | 'commandTimeout'
  | 'socketTimeout'
  | 'maxRetriesPerRequest'
  | 'autoResubscribe'
  | 'tls'
>

/** Errors are not thrown; `status` shows them, and `onState` hears of the first and the last. */
function open(server: RedisServer, options: ClientOptions, onState?: OnRedisState): RedisClient {
  const nodes = server.url.split(',').map((node) => node.trim())
  const tls = nodes.some((node) => /^rediss:/i.test(node)) ? tlsOptions(server) : undefined
  const common: ClientOptions = { ...options, ...(tls && { tls }) }
  const client =
    server.cluster || nodes.length > 1
      ? openCluster(nodes, common)
      : // ioredis would let the URL's scheme decide how TLS is checked.
        new Redis((nodes[0] ?? '').replace(/^rediss:/i, 'redis:'), { ...common, retryStrategy: retryMs })
  client.on('error', () => undefined)
  if (onState !== undefined) reportState(client, onState)
  return client
}

function tlsOptions({ tls: { ca, insecure = false } = {} }: RedisServer): ConnectionOptions {
  return { rejectUnauthorized: !insecure, ...(ca === undefined ? {} : { ca }) }
}

/** The nodes name further nodes, which have the same user and password. */
function openCluster(nodes: readonly string[], options: ClientOptions): Cluster {
  const urls = nodes.map((node) => new URL(/^\w+:\/\//.test(node) ? node : `redis://${node}`))
  const { username, password } = urls.find((url) => url.password !== '') ?? { username: '', password: '' }
  const login = {
    ...(username === '' ? {} : { username: decodeURIComponent(username) }),
    ...(password === '' ? {} : { password: decodeURIComponent(password) }),
  }
  const places = urls.map(({ hostname, port }) => ({
    host: hostname.replace(/^\[|\]$/g, ''),
    port: Number(port) || defaultPort,
  }))
  return new Cluster(places, {
    redisOptions: { ...options, ...login },
    enableOfflineQueue: options.enableOfflineQueue ?? true,
    clusterRetryStrategy: retryMs,
    ...(options.tls && { dnsLookup: keepName }),
  })
}

const defaultPort = 6379
/** A certificate names hosts: with TLS a name is not replaced by its address. */
const keepName = (host: string, callback: (error: null, address: string) => void): void =>
  callback(null, host)

function reportState(client: RedisClient, onState: OnRedisState): void {
  let broken = false
  client.on('error', (error: Error & { lastNodeError?: Error | null }) => {
    if (broken) return
    broken = true
    // Only the text: ioredis keeps the command in its errors, and AUTH has the password.
    onState([error.message, error.lastNodeError?.message].filter(Boolean).join(' '))
  })
  client.on('ready', () => {
    if (!broken) return
    broken = false
    onState(undefined)
  })
}
