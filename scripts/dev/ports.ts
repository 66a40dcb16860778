import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { Refusal } from '../bootstrap/progress.mjs'

const host = '127.0.0.1'
const leavingMs = 15_000
const pollMs = 100

/** A port and the setting that chooses it. */
export interface Port {
  readonly setting: string
  readonly port: number
}

/**
 * Refuses, in one line naming every setting to change, when something listens on one of these ports already.
 * `afterCrash`: what a killed stack had started may still be on its way out, so it is given 15 s.
 */
export async function assertFree(ports: readonly Port[], afterCrash: boolean): Promise<void> {
  const deadline = Date.now() + (afterCrash ? leavingMs : 0)
  for (;;) {
    const taken = await filter(ports)
    if (taken.length === 0) return
    if (Date.now() >= deadline) throw new Refusal(complaint(taken))
    await sleep(pollMs)
  }
}

async function filter(ports: readonly Port[]): Promise<Port[]> {
  const free = await Promise.all(ports.map(({ port }) => isFree(port)))
  return ports.filter((_, index) => !free[index])
}

function complaint(taken: readonly Port[]): string {
  const list = taken.map(({ setting, port }) => `${port} (${setting})`).join(', ')
  return `in use: port ${list}; stop what listens there, or change the setting in parentheses`
}

/** Asked on every address as well as on the loopback alone: a listener on one hides from a question on the other. */
async function isFree(port: number): Promise<boolean> {
  return (await listens(port, host)) !== undefined && (await listens(port)) !== undefined
}

/** A port nobody listens on now, outside what has been handed out before. */
export async function freePort(): Promise<number> {
  const port = await listens(0, host)
  if (port === undefined) throw new Error('this machine has no free port')
  return port
}

function listens(port: number, address?: string): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(undefined))
    server.listen({ port, host: address, exclusive: true }, () => {
      const bound = server.address()
      server.close(() => resolve(typeof bound === 'object' && bound !== null ? bound.port : undefined))
    })
  })
}
