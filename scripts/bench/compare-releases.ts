import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { printProgress, Refusal } from '../bootstrap/progress.mjs'
import { checkOutRelease } from '../kit/older-release.js'
import { alternateOrder, type BenchOptions, type Figure, median } from './measurement.js'

const defaultRounds = 5
/** Exit code when something is slower. */
const slowerCode = 4
const releases = ['before', 'after'] as const
type Release = (typeof releases)[number]
/** Less is not worth a word: the processes of one release differ by this much. */
const leastChange = 0.03

/** One figure of two releases. */
interface Compared {
  readonly name: string
  readonly before: number
  readonly after: number
  /** The change as a share of `before`; positive is better. */
  readonly gain: number
  /** Half the range of the repeated runs, as a share of their median: of the release where it is greater. */
  readonly noise: number
  readonly word: 'faster' | 'slower' | 'same'
}

/** Runs benchmarks against another commit and against this folder, in turns. Prints a table. Returns the exit code. */
export async function compareReleases(
  given: string,
  names: readonly string[],
  { rounds = defaultRounds, clients, rows }: BenchOptions,
): Promise<number> {
  const { ref, folder, remove } = await checkOutRelease(given, printProgress)
  try {
    // PostgreSQL does not run as root, and its data are in this folder.
    chmodSync(folder, 0o755)
    // The same benchmarks measure both, so that only what they measure differs.
    cpSync('dist/scripts', join(folder, 'dist/scripts'), { recursive: true })
    mkdirSync('bench-results', { recursive: true })
    const folders = { before: folder, after: process.cwd() }
    let code = 0
    for (const name of names) {
      const runs: Record<Release, Figure[][]> = { before: [], after: [] }
      for (let round = 1; round <= rounds; round++)
        for (const release of alternateOrder(releases, round)) {
          printProgress(`${name}, round ${round} of ${rounds}: ${release === 'before' ? ref : 'this folder'}`)
          runs[release].push(await runOnce(folders[release], name, { clients, rows }))
        }
      const compared = compareFigures(runs.before, runs.after)
      if (compared.length === 0) throw new Refusal(`${name} has no figures to compare`)
      const file = `bench-results/compare-${name}.json`
      writeFileSync(file, `${JSON.stringify({ ref, compared, runs }, null, 2)}\n`)
      process.stdout.write(`\n${tableOf(name, ref, rounds, compared)}\nwritten to ${file}\n`)
      if (compared.some(({ word }) => word === 'slower')) code = slowerCode
    }
    return code
  } finally {
    await remove()
  }
}

/** Runs one round of a benchmark in the folder of a release. */
async function runOnce(folder: string, name: string, given: BenchOptions): Promise<Figure[]> {
  const further = Object.entries(given).flatMap(([option, value]) =>
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

/**
 * Compares the runs of two releases. Slower is what every run after is, compared with every run before: the ranges do not touch. One run
 * that was disturbed therefore never makes a release slower.
 */
export function compareFigures(
  before: readonly (readonly Figure[])[],
  after: readonly (readonly Figure[])[],
): Compared[] {
  return (before[0] ?? []).flatMap(({ name, better }) => {
    const [old, now] = [valuesOf(name, before), valuesOf(name, after)]
    return now.length === 0 ? [] : [{ name, ...compareValues(old, now, better) }]
  })
}

function valuesOf(name: string, runs: readonly (readonly Figure[])[]): number[] {
  return runs.flatMap((figures) => figures.filter((figure) => figure.name === name).map(({ value }) => value))
}

function compareValues(
  old: readonly number[],
  now: readonly number[],
  better: Figure['better'],
): Omit<Compared, 'name'> {
  const [before, after] = [median(old), median(now)]
  const gain = (better === 'higher' ? after - before : before - after) / before
  const apart = Math.max(...old) < Math.min(...now) || Math.max(...now) < Math.min(...old)
  const changed = apart && Math.abs(gain) > leastChange
  const word = !changed ? 'same' : gain > 0 ? 'faster' : 'slower'
  return { before, after, gain, noise: Math.max(noiseOf(old), noiseOf(now)), word }
}

function noiseOf(values: readonly number[]): number {
  return (Math.max(...values) - Math.min(...values)) / 2 / median(values)
}

function tableOf(name: string, ref: string, rounds: number, compared: readonly Compared[]): string {
  const width = Math.max(name.length, ...compared.map((figure) => figure.name.length)) + 2
  const line = (title: string, before: string, after: string, gain: string, noise: string, word: string) =>
    `${title.padEnd(width)}${before.padStart(12)}${after.padStart(12)}${gain.padStart(10)}${noise.padStart(10)}${word.padStart(9)}`
  return [
    line(name, ref, 'this folder', 'better by', 'noise', '').trimEnd(),
    ...compared.map(({ name: figure, before, after, gain, noise, word }) =>
      line(figure, short(before), short(after), percent(gain), `± ${percent(noise)}`, word),
    ),
    `medians of ${rounds} runs each, in turns; noise: half the range of the runs; slower or faster: by more than 3 %, and every run`,
  ].join('\n')
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`
}

function short(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3)
}
