/** What one block of an event stream said. */
export interface ServerSentEvent {
  readonly id?: string
  readonly data?: string
  readonly retryMs?: number
}

/** A block this long is no event of ours: reading it on would only fill the memory. */
const longestBlock = 1024 * 1024

/**
 * Reads event-stream text (WHATWG HTML, 9.2.6) as it comes, in pieces of any size. Returns the events each piece
 * completes.
 */
export function createEventParser(): (chunk: string) => ServerSentEvent[] {
  let rest = ''
  return (chunk) => {
    // A carriage return at the end may be half of a line break.
    const text = rest + chunk
    const held = text.endsWith('\r') ? 1 : 0
    const blocks = text
      .slice(0, text.length - held)
      .replace(/\r\n?/g, '\n')
      .split('\n\n')
    rest = (blocks.pop() ?? '') + text.slice(text.length - held)
    if (rest.length > longestBlock) throw new Error('the event stream does not look like one')
    return blocks.map(eventOf)
  }
}

function eventOf(block: string): ServerSentEvent {
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
