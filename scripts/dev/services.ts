import { readFileSync } from 'node:fs'
import { freePort } from './ports.js'
import { respondsAt } from './probe.js'
import { workersOf } from './procfile.js'
import { webPorts } from './settings.js'
import type { Program } from './supervise.js'
import type { StackContext } from './support.js'

const readyMs = 60_000

/** A process of the product and where it tells how it is. */
export interface Service {
  readonly name: string
  readonly url: string
}

/**
 * Starts the web processes and every worker of the Procfile, each a process of its own, and waits until all are ready.
 * `walletKek`: given to the provisioner and to nobody else.
 */
export async function startServices(
  { settings, fleet }: StackContext,
  env: NodeJS.ProcessEnv,
  walletKek: string,
): Promise<Service[]> {
  const services: Service[] = []
  function start(name: string, port: number, args: string[], own: NodeJS.ProcessEnv): void {
    const program: Program = { command: process.execPath, args, signal: 'SIGTERM', env: { ...env, ...own } }
    fleet.start('service', name, program)
    services.push({ name, url: `http://localhost:${port}` })
  }
  for (const [index, port] of webPorts(settings).entries())
    start(`web ${index + 1}`, port, ['dist/src/web.js'], { PORT: String(port) })
  for (const name of workersOf(readFileSync('Procfile', 'utf8'))) {
    const port = await freePort()
    const key = name === 'provisioner' ? { WALLET_KEK: walletKek } : {}
    start(name, port, ['dist/workers/main.js', name], { WORKER_PORT: String(port), ...key })
  }
  await Promise.all(
    services.map(async ({ name, url }) => {
      if (await respondsAt(`${url}/ready`, readyMs, () => fleet.hopeful)) return
      throw new Error(`${name} is not ready, see above`)
    }),
  )
  return services
}
