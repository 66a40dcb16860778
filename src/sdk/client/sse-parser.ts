/** One block of an event stream. */
export interface ServerSentEvent {
  readonly id?: string
  readonly data?: string
  readonly retryMs?: number
}

/** The service sends no block of this length. The bound protects the memory. */
const longestBlock = 1024 * 1024

/** Parses event-stream text (WHATWG HTML, 9.2.6) in chunks of any size. Returns the events a chunk completes. */
export function createEventParser(): (chunk: string) => ServerSentEvent[] {
  let rest = ''
  return (chunk) => {
    // A carriage return at the end of a chunk may be the first half of a line break.
    const text = rest + chunk
    const held = text.endsWith('\r') ? 1 : 0
    const blocks = text
      .slice(0, text.length - held)
      .replace(/\r\n?/g, '\n')
      .split('\n\n')
    rest = (blocks.pop() ?? '') + text.slice(text.length - held)
    if (rest.length > longestBlock) throw new Error('a block of the event stream is too long')
    return blocks.map(parseBlock)
  }
}

function parseBlock(block: string): ServerSentEvent {
  const data: string[] = []
  const fields: { id?: string; retryMs?: number } = {}
  for (const line of block.split('\n')) {
    const [, name, value = ''] = /^([^:]+)(?:: ?(.*))?$/.exec(line) ?? []
    if (name === 'data') data.push(value)
    if (name === 'id') fields.id = value
    if (name === 'retry' && /^\d+$/.test(value)) fields.retryMs = Number(value)
  }
  return data.length === 0 ? fields : { ...fields, data: data.join('\n') }
}
