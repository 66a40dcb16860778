import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { opsPrograms } from '../../bootstrap/ops.mjs'

const linesOf = (file: string): string[] =>
  existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : []

/** The routes and the operators' commands that no test of a whole run has called with success, as the role that they have. */
export function findUnreached(folder: string): string[] {
  const reached = new Set(linesOf(join(folder, 'reached')))
  const all = [...linesOf(join(folder, 'routes')), ...opsPrograms().keys()]
  return all.filter((name) => !reached.has(name))
}
