import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { waitUntil } from '../../dev/wait-until.js'
import { requestOnce } from '../client.js'
import type { Run } from './scenario.js'

/** The web processes answer in turn. */
const answersInARow = 3
const waitMs = 120_000

/** Waits until both web processes say so of themselves: `degraded` without Redis, which is slower and loses nothing. */
export async function untilReadiness({ stage }: Run, wanted: 'ok' | 'degraded'): Promise<void> {
  async function isSaid(): Promise<boolean> {
    for (let n = 0; n < answersInARow; n++) {
      const { body } = await requestOnce(stage.url, ['GET', '/ready'])
      if (body['status'] !== wanted) return false
    }
    return true
  }
  if (!(await waitUntil(isSaid, waitMs)))
    throw new Error(`/ready does not say ${wanted}; logs: ${stage.logs}`)
}

/**
 * What is wrong with the messages about Redis: each process says once, with the reason, that it is away. `least` goes for the web
 * processes: a worker that sends nothing to Redis in that time has nothing to say.
 */
export function messageFaults(
  { stage: { logs } }: Run,
  { least, most }: { least: number; most: number },
): string[] {
  return readdirSync(logs)
    .filter((name) => name.endsWith('.log'))
    .flatMap((name) => {
      const lines = readFileSync(join(logs, name), 'utf8').split('\n')
      const said = lines.filter((line) => line.includes('Redis is unavailable'))
      const faults = said.some((line) => !/"reason":".+"/.test(line)) ? [`${name}: without a reason`] : []
      const needed = name.startsWith('web') ? least : 0
      if (said.length < needed || said.length > most)
        faults.push(`${name} said ${said.length} times that Redis is away; ${needed} to ${most} are right`)
      return faults
    })
}
