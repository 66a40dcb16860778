import type { Queue } from 'bullmq'
import { createProducerClient, type RedisServer } from '../redis/clients.js'
import { isWoken, openQueue, workKinds } from './wake-ups.js'

/** The queues of an installation, for the operators' pages. */
export interface OpenQueues {
  readonly queues: readonly Queue[]
  close(): Promise<void>
}

/** Opens every queue on its own connection, which fails immediately while Redis is unavailable. */
export function openQueues({
  namespace,
  ...server
}: RedisServer & { readonly namespace: string }): OpenQueues {
  const connection = createProducerClient(server)
  const queues = workKinds.filter(isWoken).map((kind) => openQueue(kind, connection, namespace))
  return {
    queues,
    async close() {
      await Promise.all(queues.map((queue) => queue.close()))
      connection.disconnect()
    },
  }
}
