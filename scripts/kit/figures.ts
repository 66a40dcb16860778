import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { printProgress } from '../bootstrap/progress.mjs'
import { promisedRuns } from './promised-runs.js'
import type { Report } from './report.js'

export const figuresFolder = 'docs/figures'

/** What a run has counted, of which code, and when. */
export interface Figures {
  /** The command, without its seed. */
  readonly run: string
  readonly seed?: number | undefined
  readonly date: string
  readonly commit: string
  readonly rows: Report['rows']
}

/** What git answers. Undefined: it cannot, as in a release or where a commit is missing. */
export function askGit(...args: readonly string[]): string | undefined {
  const { status, stdout } = spawnSync('git', args, { encoding: 'utf8' })
  return status === 0 ? stdout.trim() : undefined
}

/**
 * Writes the figures of a run that docs/promises.md shows. A run with other options is another run and writes nothing, and neither
 * does one of code that is not committed.
 */
export function writeFigures(run: string, rows: Report['rows'], seed?: number): void {
  const promised = promisedRuns[run]
  if (promised === undefined) return
  const commit = askGit('rev-parse', '--short=12', 'HEAD')
  if (commit === undefined || askGit('status', '--porcelain', '--', ...promised.covers) !== '') {
    printProgress('the figures are not kept, since what they are of is not committed')
    return
  }
  const figures: Figures = { run, seed, date: new Date().toISOString().slice(0, 10), commit, rows }
  const file = join(figuresFolder, `${run.replace('npm run ', '').replace(/\W+/g, '-')}.json`)
  mkdirSync(figuresFolder, { recursive: true })
  writeFileSync(file, `${JSON.stringify(figures, null, 2)}\n`)
  printProgress(`written to ${file}; npm run check -- --fix shows it in docs/promises.md`)
}
