import { createSubscriberClient, type RedisClient, type RedisServer } from './clients.js'

/**
 * Notifications between processes over Redis pub/sub. A notification means "something changed, read the database". It
 * carries no data and may be lost, doubled or late. A process has one subscriber connection for all its listeners.
 */
export interface Notifications {
  /**
   * Calls `listener` for every notification on the channel from now on, and `onListening` once subscribed. Returns how
   * to stop.
   */
  listen(channel: string, listener: (message: string) => void, onListening?: () => void): () => void
  /** Calls back after every reconnect, since notifications may have been missed. */
  onReconnect(callback: () => void): void
  close(): void
}

/** Opens the subscriber connection of this process, with channels under `namespace`. */
export function createNotifications(server: RedisServer, namespace: string): Notifications {
  const redis = createSubscriberClient(server)
  const listeners = new Map<string, Set<(message: string) => void>>()
  /** Told once subscribed: listeners that came while Redis was away. */
  const waiting = new Set<() => void>()
  const name = (channel: string): string => `${namespace}.${channel}`

  redis.on('message', (from: string, message: string) => {
    const channel = from.slice(namespace.length + 1)
    // Its last listener left while Redis was away, but the client repeated a subscription of before.
    if (!listeners.has(channel)) unsubscribe(channel)
    for (const listener of listeners.get(channel) ?? []) listener(message)
  })
  // Nothing is sent while Redis is away: what waits to be sent would grow with everybody who comes and goes.
  redis.on('ready', () => {
    const listening = [...waiting]
    waiting.clear()
    if (listeners.size === 0) return
    subscribe([...listeners.keys()], () => {
      for (const tell of listening) tell()
    })
  })
  // Commands of one connection keep their order, so the last (un)subscribe of a channel wins.
  function subscribe(channels: readonly string[], onListening: () => void): void {
    void redis.subscribe(...channels.map(name)).then(onListening, () => undefined)
  }
  function unsubscribe(channel: string): void {
    if (redis.status === 'ready') void redis.unsubscribe(name(channel)).catch(() => undefined)
  }
  function unlisten(channel: string, listener: (message: string) => void): void {
    const current = listeners.get(channel)
    if (current?.delete(listener) !== true || current.size > 0) return
    listeners.delete(channel)
    unsubscribe(channel)
  }
  return {
    listen(channel, listener, onListening) {
      const current = listeners.get(channel) ?? new Set()
      listeners.set(channel, current.add(listener))
      const tell = (): void => onListening?.()
      if (redis.status !== 'ready') waiting.add(tell)
      else if (current.size === 1) subscribe([channel], tell)
      else tell()
      return () => {
        waiting.delete(tell)
        unlisten(channel, listener)
      }
    },
    onReconnect(callback) {
      redis.on('ready', callback)
    },
    close() {
      redis.disconnect()
    },
  }
}

/** Publishes best effort: never awaited, and skipped while Redis is unavailable. */
export function createPublisher(
  redis: RedisClient,
  namespace: string,
): (channel: string, message: string) => void {
  return (channel, message) => {
    if (redis.status === 'ready')
      void redis.publish(`${namespace}.${channel}`, message).catch(() => undefined)
  }
}
