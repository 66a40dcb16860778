import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { ExecutionContext } from 'ava'

/** Looks at what passes one connection, before it passes. False cuts the connection there. */
export interface Watch {
  toServer(bytes: Buffer): Promise<boolean>
  toClient(bytes: Buffer): Promise<boolean>
}

export interface TcpProxy {
  readonly port: number
  /** Breaks every connection. */
  cut(): void
  /** While on, every connection breaks as soon as it is made. */
  refuse(on: boolean): void
  /** While on, nothing passes and nothing breaks: a network that swallows packets. */
  hold(on: boolean): void
}

/** A wire between a process under test and a server, to look at, hold up and cut. Closed after the test. */
export async function startTcpProxy(
  t: ExecutionContext,
  target: { readonly host: string; readonly port: number },
  watch?: () => Watch,
): Promise<TcpProxy> {
  const open = new Set<Socket>()
  let refusing = false
  let held = Promise.resolve()
  let release: () => void = () => undefined

  const listener = createServer((client) => {
    if (refusing) {
      client.destroy()
      return
    }
    const server = connect(target.port, target.host)
    const watching = watch?.()
    for (const [from, to, look] of [
      [client, server, watching?.toServer],
      [server, client, watching?.toClient],
    ] as const) {
      open.add(from)
      from
        .on('error', () => undefined)
        .on('close', () => {
          open.delete(from)
          to.destroy()
        })
      carry(from, to, async (bytes) => {
        await held
        return look === undefined || (await look(bytes))
      })
    }
  })
  await new Promise<void>((listening) => listener.listen(0, '127.0.0.1', listening))
  const cut = (): void => {
    for (const socket of open) socket.destroy()
  }
  t.teardown(async () => {
    release()
    const closed = new Promise((done) => listener.close(done))
    cut()
    await closed
  })
  return {
    port: (listener.address() as AddressInfo).port,
    cut,
    refuse: (on) => {
      refusing = on
    },
    hold: (on) => {
      release()
      if (on)
        held = new Promise((done) => {
          release = done
        })
    },
  }
}

/** One direction, in order, however long `look` takes. */
function carry(from: Socket, to: Socket, look: (bytes: Buffer) => Promise<boolean>): void {
  let last = Promise.resolve()
  from.on('data', (bytes: Buffer) => {
    last = last.then(async () => {
      if (from.destroyed) return
      if (await look(bytes)) to.write(bytes)
      else from.destroy()
    })
  })
}

/** The address of a `postgres://` or `redis://` URL. */
export function addressOf(url: string): { host: string; port: number } {
  const { hostname, port } = new URL(url)
  return { host: hostname, port: Number(port) }
}

/** The URL with the proxy in place of the server. */
export function through(proxy: Pick<TcpProxy, 'port'>, url: string): string {
  const changed = new URL(url)
  changed.hostname = '127.0.0.1'
  changed.port = String(proxy.port)
  return changed.href
}
