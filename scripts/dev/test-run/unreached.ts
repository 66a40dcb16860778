import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { opsPrograms } from '../../bootstrap/ops.mjs'

const linesOf = (file: string): string[] =>
  existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : []

/** The routes and the operators' commands, of a subject its verbs, that no test of a whole run has called with success, as the role that they have. */
export function findUnreached(folder: string): string[] {
  const reached = new Set(linesOf(join(folder, 'reached')))
  const programs = [...opsPrograms()].filter(([, file]) => !existsSync(file.replace(/[.]js$/, '')))
  const all = [...linesOf(join(folder, 'routes')), ...programs.map(([name]) => name)]
  return all.filter((name) => !reached.has(name))
}
