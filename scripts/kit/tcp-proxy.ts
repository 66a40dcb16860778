import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** Inspects the bytes of one connection before they are forwarded. Returning false closes the connection. */
export interface TrafficWatch {
  toServer?(bytes: Buffer): boolean | Promise<boolean>
  toClient?(bytes: Buffer): boolean | Promise<boolean>
}

/** A TCP proxy in front of a server. Its owner can inspect, hold and cut its connections. */
export interface TcpProxy {
  /** The server's URL with the proxy's port. */
  readonly url: string
  /** Breaks every connection. */
  cut(): void
  /** While on, every connection breaks as soon as it is made. */
  refuse(on: boolean): void
  /** While on, connections are accepted but nothing is forwarded, as with a hung server or lost packets. */
  hold(on: boolean): void
  /** Sends further connections to another server. Those that are open stay. */
  moveTo(url: string): void
  close(): Promise<void>
}

/**
 * Starts a proxy in front of the server at `url`. `watch` is called once per connection. `deliversLate`: what was sent on a held
 * connection arrives when it is released, also from a client that has given up meanwhile. The caller closes the proxy.
 */
export async function startTcpProxy(
  url: string,
  watch?: () => TrafficWatch,
  deliversLate = false,
): Promise<TcpProxy> {
  let target = new URL(url)
  const open = new Set<Socket>()
  let refusing = false
  let held = Promise.resolve()
  let release = (): void => undefined

  const listener = createServer((client) => {
    if (refusing) {
      client.destroy()
      return
    }
    const server = connect(Number(target.port), target.hostname)
    const watching = watch?.()
    for (const [from, to, inspect] of [
      [client, server, watching?.toServer],
      [server, client, watching?.toClient],
    ] as const) {
      open.add(from)
      from.on('close', () => open.delete(from))
      forwardInOrder(
        from,
        to,
        async (bytes) => {
          await held
          return inspect === undefined || (await inspect(bytes))
        },
        deliversLate,
      )
    }
  })
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const cut = (): void => {
    for (const socket of open) socket.destroy()
  }
  return {
    url: withPort(url, (listener.address() as AddressInfo).port),
    cut,
    refuse(on) {
      refusing = on
    },
    hold(on) {
      release()
      if (!on) return
      held = new Promise((done) => {
        release = done
      })
    },
    moveTo(other) {
      target = new URL(other)
    },
    async close() {
      release()
      const closed = once(listener, 'close')
      listener.close()
      cut()
      await closed
    },
  }
}

/** Forwards one direction in order. Waits for `mayPass` before each piece. */
function forwardInOrder(
  from: Socket,
  to: Socket,
  mayPass: (bytes: Buffer) => Promise<boolean>,
  deliversLate: boolean,
): void {
  let last = Promise.resolve()
  from
    .setNoDelay(true)
    .on('error', () => undefined)
    .on('close', () => (deliversLate ? void last.then(() => to.end()) : to.destroy()))
    .on('data', (bytes: Buffer) => {
      last = last.then(async () => {
        if (from.destroyed && !deliversLate) return
        if (!(await mayPass(bytes))) from.destroy()
        else if (!to.destroyed) to.write(bytes)
      })
    })
}

function withPort(url: string, port: number): string {
  const changed = new URL(url)
  changed.hostname = '127.0.0.1'
  changed.port = String(port)
  return changed.href
}
