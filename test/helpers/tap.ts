import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A door in front of a server, through which a test sees and stops what goes by. */
export interface Tap {
  /** The server's URL, leading through the tap. */
  readonly url: string
  /** Connections stay open and nothing goes through, as when the server's process is stopped. */
  stall(): void
  /** What was held goes through, and everything after it. */
  pass(): void
  close(): Promise<void>
}

/** Opens a tap before the server at `url`. `hear` is asked for a listener to each connection's bytes to the server. */
export async function openTap(url: string, hear?: () => (bytes: Buffer) => void): Promise<Tap> {
  const target = new URL(url)
  const sockets = new Set<Socket>()
  const held: (() => void)[] = []
  let stalled = false

  function carry(from: Socket, to: Socket, listener?: (bytes: Buffer) => void): void {
    sockets.add(from)
    from.on('error', () => undefined)
    from.on('close', () => {
      sockets.delete(from)
      to.destroy()
    })
    from.on('data', (bytes: Buffer) => {
      listener?.(bytes)
      if (stalled) held.push(() => to.write(bytes))
      else to.write(bytes)
    })
  }
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname)
    for (const socket of [client, upstream]) socket.setNoDelay(true)
    carry(client, upstream, hear?.())
    carry(upstream, client)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const through = new URL(url)
  through.hostname = '127.0.0.1'
  through.port = String((server.address() as AddressInfo).port)
  return {
    url: through.href,
    stall() {
      stalled = true
    },
    pass() {
      stalled = false
      for (const send of held.splice(0)) send()
    },
    async close() {
      const closed = once(server, 'close')
      server.close()
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}
