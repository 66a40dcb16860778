import { connect } from 'node:net'

/**
 * The readers of `npm run bench -- streams`, in a process of their own. They use plain sockets that share one buffer: ten thousand HTTP
 * clients would take longer than the server that is measured.
 */
export type Order = 'awaitEvent' | { readonly open: { readonly url: string; readonly count: number } }
/** The answer to an order; then the times of the monotonic clock in ms, when the first client and when the last one had the event. */
export interface Report {
  readonly first?: number
  readonly last?: number
  readonly failed?: string
}

/** How many are opened at the same time. */
const openingMost = 64
/** A heartbeat is shorter, an event is longer. */
const leastEventBytes = 64
const buffer = Buffer.allocUnsafe(64 * 1024)

let open = 0
let got = 0
let round = 0
let first = 0

function report(message: Report): void {
  process.send?.(message)
}

/** Ends this process too: the benchmark would wait for it. */
function fail(failed: string): void {
  process.send?.({ failed } satisfies Report, () => process.exit(1))
}

function clockMs(): number {
  return Number(process.hrtime.bigint()) / 1e6
}

/** Opens one stream. Resolves when its `connected` event has come. */
function openOne(host: string, port: number, request: string): Promise<void> {
  return new Promise((connected) => {
    let text = ''
    let isOpen = false
    let seen = 0
    function onData(bytes: number): boolean {
      if (isOpen) {
        if (bytes >= leastEventBytes && seen < round) countEvent()
        seen = bytes >= leastEventBytes ? round : seen
        return true
      }
      text += buffer.toString('latin1', 0, bytes)
      if (!text.includes('"connected"')) return true
      isOpen = true
      text = ''
      open += 1
      connected()
      return true
    }
    const socket = connect({ host, port, onread: { buffer, callback: onData } })
    socket.on('connect', () => socket.write(request))
    socket.on('error', (error) => fail(error.message))
    socket.on('close', () => fail('a stream was closed'))
  })
}

/** Counts a client that has the newest event. */
function countEvent(): void {
  got += 1
  if (got === 1) first = clockMs()
  if (got === open) report({ first, last: clockMs() })
}

async function openAll(url: string, count: number): Promise<void> {
  const { hostname, port, pathname, search, host } = new URL(url)
  const request = `GET ${pathname}${search} HTTP/1.1\r\nhost: ${host}\r\naccept: text/event-stream\r\n\r\n`
  let begun = 0
  const openNext = async (): Promise<void> => {
    while (begun < count) {
      begun += 1
      await openOne(hostname, Number(port), request)
    }
  }
  await Promise.all(Array.from({ length: openingMost }, openNext))
  report({})
}

process.on('message', (order: Order) => {
  if (order !== 'awaitEvent') void openAll(order.open.url, order.open.count)
  else {
    got = 0
    round += 1
    report({})
  }
})
process.on('disconnect', () => process.exit(0))
