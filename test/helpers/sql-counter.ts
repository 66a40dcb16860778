import { openTap, type Tap } from './tap.js'

/** A tap before PostgreSQL that notes every statement a client runs. */
export interface SqlCounter extends Tap {
  /** The statements run while `work` goes on, in order: the names of prepared ones, the text of others. */
  during(work: () => Promise<unknown>): Promise<string[]>
}

export async function countSql(url: string): Promise<SqlCounter> {
  let statements: string[] = []
  const tap = await openTap(url, () => readStatements((statement) => statements.push(statement)))
  return {
    ...tap,
    async during(work) {
      statements = []
      await work()
      return [...statements]
    },
  }
}

const typeBytes = 1
const lengthBytes = 4

/**
 * Reads what a client sends (PostgreSQL documentation, "Message Formats"): `Q` runs a text, `E` runs what the last
 * `B` bound, and a nameless `B` what the last `P` parsed. The very first message has no type.
 */
function readStatements(onStatement: (statement: string) => void): (bytes: Buffer) => void {
  let rest = Buffer.alloc(0)
  let started = false
  let parsed = ''
  let bound = ''

  function message(type: string, body: Buffer): void {
    const [first = '', second = ''] = body.toString('utf8').split('\0')
    if (type === 'P' && first === '') parsed = second
    if (type === 'B') bound = second === '' ? parsed : second
    if (type === 'E') onStatement(bound)
    if (type === 'Q') onStatement(first)
  }
  return (bytes) => {
    rest = Buffer.concat([rest, bytes])
    for (;;) {
      const head = started ? typeBytes : 0
      if (rest.length < head + lengthBytes) return
      const end = head + rest.readUInt32BE(head)
      if (rest.length < end) return
      if (started) message(rest.toString('latin1', 0, typeBytes), rest.subarray(head + lengthBytes, end))
      started = true
      rest = rest.subarray(end)
    }
  }
}
