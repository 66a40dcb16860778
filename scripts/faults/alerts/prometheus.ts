import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Refusal } from '../../bootstrap/progress.mjs'

export const rulesFile = fileURLToPath(
  new URL('../../../../scripts/deploy/monitoring/rules.yml', import.meta.url),
)

/** Throws a Refusal where the programs of Prometheus are not installed. */
export function needPrometheus(): void {
  for (const program of ['prometheus', 'promtool'])
    if (!isInstalled(program)) throw new Refusal(`${program} is not installed: apt-get install prometheus`)
}

function isInstalled(program: string): boolean {
  return (process.env['PATH'] ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}
