import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { ExecutionContext } from 'ava'

/** Looks at what goes by on one connection, before it passes. False cuts the connection there. */
export interface Watch {
  toServer?(bytes: Buffer): boolean | Promise<boolean>
  toClient?(bytes: Buffer): boolean | Promise<boolean>
}

/** A wire between what is tested and a server, to look at, hold up and cut. */
export interface Wire {
  /** The server's URL, leading over the wire. */
  readonly url: string
  /** Breaks every connection. */
  cut(): void
  /** While on, every connection breaks as soon as it is made. */
  refuse(on: boolean): void
  /** While on, connections are made and nothing passes: a server that hangs, a network that swallows packets. */
  hold(on: boolean): void
  close(): Promise<void>
}

/** Lays a wire to the server at `url`. `watch` is asked for a look-out at each connection. Closed by the caller. */
export async function layWire(url: string, watch?: () => Watch): Promise<Wire> {
  const target = new URL(url)
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
    for (const [from, to, look] of [
      [client, server, watching?.toServer],
      [server, client, watching?.toClient],
    ] as const) {
      open.add(from)
      from.on('close', () => open.delete(from))
      carry(from, to, async (bytes) => {
        await held
        return look === undefined || (await look(bytes))
      })
    }
  })
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const cut = (): void => {
    for (const socket of open) socket.destroy()
  }
  return {
    url: moved(url, (listener.address() as AddressInfo).port),
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
    async close() {
      release()
      const closed = once(listener, 'close')
      listener.close()
      cut()
      await closed
    },
  }
}

/** The same for one test, closed after it. */
export async function wireFor(t: ExecutionContext, url: string, watch?: () => Watch): Promise<Wire> {
  const wire = await layWire(url, watch)
  t.teardown(wire.close)
  return wire
}

/** One direction, in order, however long `look` takes. */
function carry(from: Socket, to: Socket, look: (bytes: Buffer) => Promise<boolean>): void {
  let last = Promise.resolve()
  from
    .setNoDelay(true)
    .on('error', () => undefined)
    .on('close', () => to.destroy())
    .on('data', (bytes: Buffer) => {
      last = last.then(async () => {
        if (from.destroyed) return
        if (await look(bytes)) to.write(bytes)
        else from.destroy()
      })
    })
}

function moved(url: string, port: number): string {
  const changed = new URL(url)
  changed.hostname = '127.0.0.1'
  changed.port = String(port)
  return changed.href
}
