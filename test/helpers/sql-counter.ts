import { layWire, type Wire } from './http/wire.js'
import { statementReader } from './statements.js'

/** A wire to PostgreSQL that notes every statement a client runs. */
export interface SqlCounter extends Wire {
  /** The statements run while `work` goes on, in order: the names of prepared ones, the text of others. */
  during(work: () => Promise<unknown>): Promise<string[]>
}

export async function countSql(url: string): Promise<SqlCounter> {
  let statements: string[] = []
  const wire = await layWire(url, () => {
    const read = statementReader()
    return {
      toServer(bytes) {
        statements.push(...read(bytes))
        return true
      },
    }
  })
  return {
    ...wire,
    async during(work) {
      statements = []
      await work()
      return [...statements]
    },
  }
}
