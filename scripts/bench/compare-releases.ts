import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { printProgress, Refusal } from '../bootstrap/progress.mjs'
import { checkOutRelease } from '../kit/older-release.js'
import { alternateOrder } from './measurement.js'
import type { BenchOptions, Figure } from './outcome.js'
import { type Compared, compareFigures } from './verdict.js'

const defaultRounds = 5
/** Exit code when something is slower. */
const slowerCode = 4
const releases = ['before', 'after'] as const
type Release = (typeof releases)[number]

/** Runs benchmarks against another commit and against this folder, in turns. Prints a table. Returns the exit code. */
export async function compareReleases(
  given: string,
  names: readonly string[],
  options: BenchOptions,
): Promise<number> {
  const rounds = options.rounds ?? defaultRounds
  const { ref, folder, remove } = await checkOutRelease(given, printProgress)
  try {
    // PostgreSQL does not run as root, and its data are in this folder.
    chmodSync(folder, 0o755)
    // The same benchmarks measure both, so that only what they measure differs.
    cpSync('dist/scripts', join(folder, 'dist/scripts'), { recursive: true })
    const folders = { before: folder, after: process.cwd() }
    mkdirSync('bench-results', { recursive: true })
    let code = 0
    for (const name of names) {
      const compared = await compareOne(name, { ref, folders, rounds, options })
      if (compared.some(({ word }) => word === 'slower')) code = slowerCode
    }
    return code
  } finally {
    await remove()
  }
}

interface Plan {
  readonly ref: string
  readonly folders: Record<Release, string>
  readonly rounds: number
  readonly options: BenchOptions
}

async function compareOne(
  name: string,
  { ref, folders, rounds, options }: Plan,
): Promise<readonly Compared[]> {
  const runs: Record<Release, Figure[][]> = { before: [], after: [] }
  for (let round = 1; round <= rounds; round++)
    for (const release of alternateOrder(releases, round)) {
      printProgress(`${name}, round ${round} of ${rounds}: ${release === 'before' ? ref : 'this folder'}`)
      runs[release].push(await runOnce(folders[release], name, options))
    }
  const compared = compareFigures(runs.before, runs.after)
  if (compared.length === 0) throw new Refusal(`${name} has no figures to compare`)
  const file = `bench-results/compare-${name}.json`
  writeFileSync(file, `${JSON.stringify({ ref, compared, runs }, null, 2)}\n`)
  process.stdout.write(`\n${tableOf(name, ref, rounds, compared)}\nwritten to ${file}\n`)
  return compared
}

/** Runs one round of a benchmark in the folder of a release. */
async function runOnce(folder: string, name: string, { clients, rows }: BenchOptions): Promise<Figure[]> {
  const further = Object.entries({ clients, rows }).flatMap(([option, value]) =>
    value === undefined ? [] : [`--${option}`, String(value)],
  )
  const args = ['dist/scripts/bench.js', name, '--rounds', '1', ...further]
  const child = spawn(process.execPath, args, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] })
  const [said, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')])
  if (code !== 0)
    throw new Refusal(
      `${name} does not run in ${folder}: ${said.trim().split('\n').slice(-5).join('\n')}. A benchmark runs against a release that has what it calls`,
    )
  const written = JSON.parse(readFileSync(join(folder, 'bench-results', `${name}.json`), 'utf8'))
  return written.figures ?? []
}

function tableOf(name: string, ref: string, rounds: number, compared: readonly Compared[]): string {
  const width = Math.max(name.length, ...compared.map((figure) => figure.name.length)) + 2
  const lines = compared.map((figure) =>
    [
      figure.name.padEnd(width),
      short(figure.before).padStart(12),
      short(figure.after).padStart(12),
      percent(figure.gain).padStart(10),
      `± ${percent(figure.noise)}`.padStart(10),
      figure.word.padStart(9),
    ].join(''),
  )
  return [
    `${name.padEnd(width)}${ref.padStart(12)}${'this folder'.padStart(12)}${'better by'.padStart(10)}${'noise'.padStart(10)}`,
    ...lines,
    `medians of ${rounds} runs each, in turns; noise: half the range of the runs; slower or faster: by more than 3 %, and every run`,
  ].join('\n')
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`
}

function short(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3)
}
