import { readFileSync } from 'node:fs'
import {
  type ProcessKind,
  secretsOf,
  withoutOtherSecrets,
} from '../../src/platform/config/process-secrets.js'
import { type ProcessName, processNames } from '../../workers/registry.js'
import { urlOfRole } from '../database/roles-sql.js'
import type { RoleKind } from '../database/table-rights.js'
import { hasRoles, type StackContext } from './dependencies.js'
import { freePort } from './ports.js'
import { respondsAt } from './probe.js'
import { webPorts } from './settings.js'
import type { Program } from './supervise.js'

/** A process that ends is noticed at once. On a machine with other work ten of them start slowly. */
const readyMs = 180_000
const workerLine = /^[\w-]+:\s+node dist\/workers\/main\.js\s+([\w-]+(?: [\w-]+)*)\s*$/

/** A process of the service and the addresses of its health endpoints and its metrics. */
export interface ServiceProcess {
  readonly name: string
  readonly url: string
  readonly metricsUrl: string
}

/**
 * Starts the web processes and every worker of the Procfile, one process each, and waits until all are ready.
 * `env` has the secrets of all; each process gets its own only, and connects with its own role.
 */
export async function startServiceProcesses(
  context: StackContext,
  env: NodeJS.ProcessEnv,
): Promise<ServiceProcess[]> {
  const { settings, processes } = context
  const url = (kind: RoleKind) =>
    hasRoles(context) ? { DATABASE_URL: urlOfRole(env['DATABASE_URL'] ?? '', kind) } : {}
  const started: ServiceProcess[] = []
  function start(
    name: string,
    kind: ProcessKind & RoleKind,
    [port, metricsPort]: [number, number],
    args: string[],
    own: NodeJS.ProcessEnv,
  ): void {
    const program: Program = {
      command: process.execPath,
      args,
      signal: 'SIGTERM',
      env: { ...withoutOtherSecrets(env, secretsOf[kind]), ...url(kind), ...own },
    }
    processes.start('service', name, program)
    started.push({
      name,
      url: `http://localhost:${port}`,
      metricsUrl: `http://localhost:${metricsPort}/metrics`,
    })
  }
  for (const [index, port] of webPorts(settings).entries()) {
    const metricsPort = settings.METRICS_PORT === undefined ? await freePort() : settings.METRICS_PORT + index
    start(`web ${index + 1}`, 'web', [port, metricsPort], ['dist/src/web.js'], {
      PORT: String(port),
      METRICS_PORT: String(metricsPort),
    })
  }
  for (const names of workersInProcfile(readFileSync('Procfile', 'utf8'))) {
    const port = await freePort()
    const [first] = names
    if (first !== undefined)
      start(first, first, [port, port], ['dist/workers/main.js', ...names], { WORKER_PORT: String(port) })
  }
  await Promise.all(
    started.map(async ({ name, url }) => {
      if (await respondsAt(`${url}/ready`, readyMs, () => processes.mayStillStart)) return
      throw new Error(`the process "${name}" did not become ready; its messages are above`)
    }),
  )
  return started
}

/** The workers of each process that a Procfile names, so that development runs the same workers as production. */
export function workersInProcfile(procfile: string): ProcessName[][] {
  const lines = procfile.split('\n').flatMap((line) => workerLine.exec(line)?.[1] ?? [])
  return lines.map((line) =>
    line.split(' ').map((name) => {
      const known = processNames.find((one) => one === name)
      if (known === undefined) throw new Error(`no worker is called ${name}`)
      return known
    }),
  )
}
