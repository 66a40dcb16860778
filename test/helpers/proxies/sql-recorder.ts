import { startTcpProxy, type TcpProxy } from '../../../scripts/kit/tcp-proxy.js'
import { createStatementReader } from './postgres-protocol.js'

/** A proxy in front of PostgreSQL that records the statements clients run. */
export interface SqlRecorder extends TcpProxy {
  /** Runs `work` and returns the statements run meanwhile, in order: prepared ones by name, others by text. */
  during(work: () => Promise<unknown>): Promise<string[]>
}

export async function startSqlRecorder(url: string): Promise<SqlRecorder> {
  let statements: string[] = []
  const proxy = await startTcpProxy(url, () => {
    const read = createStatementReader()
    return {
      toServer(bytes) {
        statements.push(...read(bytes))
        return true
      },
    }
  })
  return {
    ...proxy,
    async during(work) {
      statements = []
      await work()
      return [...statements]
    },
  }
}
