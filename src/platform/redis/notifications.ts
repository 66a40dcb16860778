import { createSubscriberClient, type RedisClient } from './clients.js'

/**
 * Hints between processes. A hint says "look again", never what happened: it may be lost, doubled or late, and
 * whoever gets it reads the database. One subscriber connection per process, whatever the number of listeners.
 */
export interface Notifications {
  /** Calls `listener` for every hint on the channel from now on; `onListening` once the subscription stands. */
  listen(channel: string, listener: (hint: string) => void, onListening?: () => void): () => void
  /** Calls back after every reconnect, when hints may have been missed. */
  onReconnect(callback: () => void): void
  close(): void
}

/** Opens the subscriber connection of this process, with channels under `namespace`. */
export function createNotifications(redisUrl: string, namespace: string): Notifications {
  const redis = createSubscriberClient(redisUrl)
  const listeners = new Map<string, Set<(hint: string) => void>>()
  const name = (channel: string): string => `${namespace}.${channel}`

  redis.on('message', (channel: string, hint: string) => {
    for (const listener of listeners.get(channel.slice(namespace.length + 1)) ?? []) listener(hint)
  })
  function unlisten(channel: string, listener: (hint: string) => void): void {
    const current = listeners.get(channel)
    if (current?.delete(listener) !== true || current.size > 0) return
    listeners.delete(channel)
    void redis.unsubscribe(name(channel)).catch(() => undefined)
  }
  return {
    listen(channel, listener, onListening) {
      const current = listeners.get(channel) ?? new Set()
      listeners.set(channel, current.add(listener))
      // Commands of one connection keep their order, so the last word per channel (un- or subscribe) is right.
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

/** Publishes best effort: not at all while Redis is away, and never awaited. */
export function createPublisher(
  redis: RedisClient,
  namespace: string,
): (channel: string, hint: string) => void {
  return (channel, hint) => {
    if (redis.status === 'ready') void redis.publish(`${namespace}.${channel}`, hint).catch(() => undefined)
  }
}
