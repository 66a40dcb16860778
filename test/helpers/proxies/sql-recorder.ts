import { startTcpProxy, type TcpProxy } from '../../../scripts/kit/tcp-proxy.js'
import { createStatementReader } from './postgres-protocol.js'

/** A proxy in front of PostgreSQL that records the statements clients run. */
export interface SqlRecorder extends TcpProxy {
  /** Runs `work` and returns the statements run meanwhile, in order: prepared ones by name, others by text. */
  during(work: () => Promise<unknown>): Promise<string[]>
  /** The same by round trips. */
  tripsDuring(work: () => Promise<unknown>): Promise<string[][]>
}

export async function startSqlRecorder(url: string): Promise<SqlRecorder> {
  let trips: string[][] = []
  const proxy = await startTcpProxy(url, () => {
    const read = createStatementReader()
    return {
      toServer(bytes) {
        trips.push(...read(bytes))
        return true
      },
    }
  })
  async function tripsDuring(work: () => Promise<unknown>): Promise<string[][]> {
    trips = []
    await work()
    return [...trips]
  }
  return { ...proxy, tripsDuring, during: async (work) => (await tripsDuring(work)).flat() }
}
