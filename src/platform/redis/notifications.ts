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
  const name = (channel: string): string => `${namespace}.${channel}`

  redis.on('message', (channel: string, message: string) => {
    for (const listener of listeners.get(channel.slice(namespace.length + 1)) ?? []) listener(message)
  })
  function unlisten(channel: string, listener: (message: string) => void): void {
    const current = listeners.get(channel)
    if (current?.delete(listener) !== true || current.size > 0) return
    listeners.delete(channel)
    void redis.unsubscribe(name(channel)).catch(() => undefined)
  }
  return {
    listen(channel, listener, onListening) {
      const current = listeners.get(channel) ?? new Set()
      listeners.set(channel, current.add(listener))
      // Commands of one connection keep their order, so the last (un)subscribe of a channel wins.
      if (current.size === 1) void redis.subscribe(name(channel)).then(onListening, () => undefined)
      else onListening?.()
      return () => unlisten(channel, listener)
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
