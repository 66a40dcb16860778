import { processNames } from '../../workers/registry.js'

/** Take-outs run in the custodian's process. */
type Separate = Exclude<(typeof processNames)[number], 'take-outs'>

/** The processes of a deployment, in the order of the Procfile. */
export const deployedProcesses: readonly ('web' | Separate)[] = [
  'web',
  ...processNames.filter((name): name is Separate => name !== 'take-outs'),
]

/** The setting with the address of the own database role of a process, or of the operators' commands. */
export function databaseSetting(name: string): string {
  return `DATABASE_URL_${name.toUpperCase().replaceAll('-', '_')}`
}

const firstWorkerPort = 9101
/** Of tipping-web@3000. */
const firstWebMetricsPort = 13_000

/** The port on which a worker answers /metrics. `place`: in the order of the Procfile, in which web is the first. */
export const workerPort = (place: number): number => firstWorkerPort + place - 1

/** Where each process answers /metrics, if the units of scripts/deploy/systemd run it. */
export function scrapeTargets(names: readonly string[], webProcesses = 1): [name: string, port: number][] {
  return names.flatMap((name, place): [string, number][] =>
    name === 'web'
      ? Array.from({ length: webProcesses }, (_, nth) => [name, firstWebMetricsPort + nth])
      : [[name, workerPort(place)]],
  )
}
