const typeBytes = 1
const lengthBytes = 4

/** A message of PostgreSQL's protocol 3 (documentation: Message Formats). A client's first one has no type. */
interface Message {
  readonly type: string
  readonly body: Buffer
}

/**
 * Reads what a client sends and answers, for each piece of bytes, the statements it runs: `Execute` runs what the
 * last `Bind` bound, `Query` a text. A prepared statement is called by its name, another one by its text.
 */
export function statementReader(): (bytes: Buffer) => string[] {
  const read = messageReader(true)
  let parsed = ''
  let bound = ''
  function statementsOf({ type, body }: Message): string[] {
    const [first = '', second = ''] = body.toString('utf8').split('\0')
    if (type === 'P' && first === '') parsed = second
    if (type === 'B') bound = second || parsed
    if (type === 'Q') return [first.toLowerCase().replace(/;$/, '')]
    return type === 'E' ? [bound] : []
  }
  return (bytes) => read(bytes).flatMap(statementsOf)
}

/** Reads what the server sends and answers how many statements have ended: each ends at `ReadyForQuery`. */
export function endReader(): (bytes: Buffer) => number {
  const read = messageReader(false)
  return (bytes) => read(bytes).filter(({ type }) => type === 'Z').length
}

/** Takes whole messages out of a stream of bytes. */
function messageReader(fromClient: boolean): (bytes: Buffer) => Message[] {
  let rest = Buffer.alloc(0)
  let typed = !fromClient
  return (bytes) => {
    rest = Buffer.concat([rest, bytes])
    const messages: Message[] = []
    for (;;) {
      const head = typed ? typeBytes : 0
      if (rest.length < head + lengthBytes) return messages
      const end = head + rest.readInt32BE(head)
      if (rest.length < end) return messages
      messages.push({
        type: rest.toString('latin1', 0, head),
        body: rest.subarray(head + lengthBytes, end),
      })
      rest = rest.subarray(end)
      typed = true
    }
  }
}
