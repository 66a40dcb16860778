const typeBytes = 1
const lengthBytes = 4

/** A message of PostgreSQL's protocol 3 (PostgreSQL manual: Message Formats). A client's first message has no type. */
interface Message {
  readonly type: string
  readonly body: Buffer
}

/**
 * Returns a function that takes bytes a client sends and returns the round trips they complete: the statements of each. `Execute` runs what
 * the last `Bind` bound, and `Sync` ends the round trip. `Query` is one by itself. A prepared statement is given by its name, any other
 * by its text.
 */
export function createStatementReader(): (bytes: Buffer) => string[][] {
  const read = messageReader(true)
  const nameOf = (text: string) => text.toLowerCase().replace(/;$/, '')
  let parsed = ''
  let bound = ''
  let executed: string[] = []
  function roundTripsOf({ type, body }: Message): string[][] {
    const [first = '', second = ''] = body.toString('utf8').split('\0')
    if (type === 'P' && first === '') parsed = second
    if (type === 'B') bound = second || parsed
    if (type === 'E') executed.push(bound)
    if (type === 'Q') return [[nameOf(first)]]
    if (type !== 'S') return []
    const ended = executed
    executed = []
    return [ended]
  }
  return (bytes) => read(bytes).flatMap(roundTripsOf)
}

/** Returns a function that takes bytes the server sends and returns how many round trips ended (`ReadyForQuery`). */
export function createEndReader(): (bytes: Buffer) => number {
  const read = messageReader(false)
  return (bytes) => read(bytes).filter(({ type }) => type === 'Z').length
}

/** Splits a stream of bytes into messages. Keeps an incomplete message for the next call. */
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
