/** A server-sent event: its id, if any, and its parsed data. */
export interface ReceivedEvent {
  readonly id: string | undefined
  readonly data: Record<string, unknown>
  /** When it arrived, on the monotonic clock. */
  readonly atMs: number
}

export interface EventReader {
  /** The first event that `matches`, past or future. Rejects after `ms`. */
  next(matches: (event: ReceivedEvent) => boolean, ms: number): Promise<ReceivedEvent>
  /** Closes the connection and waits until it is closed. */
  close(): Promise<void>
}

/** Opens a tip stream and reads it in the background. Rejects when the answer is not an event stream. */
export async function readEvents(url: string): Promise<EventReader> {
  const abort = new AbortController()
  const response = await fetch(url, { signal: abort.signal })
  if (response.status !== 200 || response.body === null) throw new Error(`${url} answered ${response.status}`)
  const events: ReceivedEvent[] = []
  const waiting = new Set<() => void>()
  let text = ''
  let parsed = 0

  function take(chunk: string): void {
    text += chunk
    for (let end = text.indexOf('\n\n', parsed); end >= 0; end = text.indexOf('\n\n', parsed)) {
      const event = parseEvent(text.slice(parsed, end))
      parsed = end + 2
      if (event !== undefined) events.push(event)
    }
    for (const check of waiting) check()
  }
  const body = response.body
  const done = (async () => {
    const decoder = new TextDecoder()
    for await (const chunk of body) take(decoder.decode(chunk, { stream: true }))
  })().catch(() => undefined) // `close` aborts the connection

  return {
    next: (matches, ms) => firstMatch(events, waiting, matches, ms),
    async close() {
      abort.abort()
      await done
    },
  }
}

function firstMatch(
  events: readonly ReceivedEvent[],
  waiting: Set<() => void>,
  matches: (event: ReceivedEvent) => boolean,
  ms: number,
): Promise<ReceivedEvent> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      waiting.delete(check)
      reject(
        new Error(`no such event within ${ms} ms; got ${JSON.stringify(events.map(({ data }) => data))}`),
      )
    }, ms)
    function check(): void {
      const found = events.find(matches)
      if (found === undefined) return
      clearTimeout(timer)
      waiting.delete(check)
      resolve(found)
    }
    waiting.add(check)
    check()
  })
}

function parseEvent(block: string): ReceivedEvent | undefined {
  const lines = block.split('\n')
  const field = (name: string): string | undefined =>
    lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2)
  const data = field('data')
  return data === undefined ? undefined : { id: field('id'), data: JSON.parse(data), atMs: performance.now() }
}
