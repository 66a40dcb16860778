import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { Refusal } from '../bootstrap/progress.mjs'

const host = '127.0.0.1'
const afterCrashMs = 15_000
const pollMs = 100
/** Systems give outgoing connections ports from 32768 on. */
const ownPorts = [20_000, 32_768] as const
const mostTries = 100

/** A port and the setting that chooses it. */
export interface Port {
  readonly setting: string
  readonly port: number
}

/**
 * Throws a Refusal that names every setting to change, when one of these ports is in use. `afterCrash`: processes of a
 * killed stack may still be ending, so it waits up to 15 s for them.
 */
export async function assertPortsFree(ports: readonly Port[], afterCrash: boolean): Promise<void> {
  const deadline = Date.now() + (afterCrash ? afterCrashMs : 0)
  for (;;) {
    const used = await portsInUse(ports)
    if (used.length === 0) return
    if (Date.now() >= deadline) throw new Refusal(portsInUseMessage(used))
    await sleep(pollMs)
  }
}

async function portsInUse(ports: readonly Port[]): Promise<Port[]> {
  const free = await Promise.all(ports.map(({ port }) => isFree(port)))
  return ports.filter((_, index) => !free[index])
}

function portsInUseMessage(used: readonly Port[]): string {
  const list = used.map(({ setting, port }) => `${port} (${setting})`).join(', ')
  return `in use: port ${list}; stop the program that listens there, or change the setting in parentheses`
}

/** Tries the loopback address and all addresses: a listener on one does not prevent a bind on the other. */
async function isFree(port: number): Promise<boolean> {
  return (await listens(port, host)) !== undefined && (await listens(port)) !== undefined
}

/** A port that is not in use now, and that no outgoing connection takes before a process listens there, or while it restarts. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < mostTries; tries++) {
    const port = randomInt(...ownPorts)
    if (await isFree(port)) return port
  }
  throw new Error('this machine has no free port')
}

/** The first of this many ports in a row, none of which is in use now. */
export async function freePorts(count: number): Promise<number> {
  for (;;) {
    const first = await freePort()
    const ports = Array.from({ length: count }, (_, index) => first + index)
    if ((await Promise.all(ports.map(isFree))).every((free) => free)) return first
  }
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
