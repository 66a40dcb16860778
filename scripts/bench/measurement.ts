import { existsSync, readFileSync } from 'node:fs'
import { printProgress } from '../bootstrap/progress.mjs'
import { withConnection } from '../dev/postgres/session.js'
import type { Figure } from './outcome.js'

/** What was measured in one round, by the name of the server. */
export type Round<Name extends string, Measured> = Readonly<Record<Name, Measured>>

/** The order of measurement in a round (from 1). Every second round is reversed, so that a drifting machine is fair to all. */
export function alternateOrder<Name extends string>(names: readonly Name[], round: number): readonly Name[] {
  return round % 2 === 0 ? names.toReversed() : names
}

/** Measures each in every round, in turns. */
export async function measureRounds<Name extends string, Measured>(
  names: readonly Name[],
  rounds: number,
  measure: (name: Name, round: number) => Promise<Measured>,
): Promise<Round<Name, Measured>[]> {
  const results: Round<Name, Measured>[] = []
  for (let round = 1; round <= rounds; round++) {
    const measured = new Map<Name, Measured>()
    for (const name of alternateOrder(names, round)) {
      printProgress(`round ${round} of ${rounds}: ${name}`)
      measured.set(name, await measure(name, round))
    }
    results.push(Object.fromEntries(measured) as Record<Name, Measured>)
  }
  return results
}

/** A column of a table: the median of all rounds. */
export interface Column<Name extends string, Measured> {
  readonly head: string
  readonly digits: number
  readonly of: (measured: Measured, round: Round<Name, Measured>) => number
  /** It is also a figure by which two releases are compared. */
  readonly better?: Figure['better']
}

/** A line for each name, below the heads. `unit`: what is counted. */
export function tableOf<Name extends string, Measured>(
  unit: string,
  results: readonly Round<Name, Measured>[],
  columns: readonly Column<Name, Measured>[],
): string[] {
  const names = Object.keys(results[0] ?? {}) as Name[]
  const first = Math.max(unit.length, ...names.map((name) => name.length)) + 2
  const line = (title: string, cells: readonly string[]): string =>
    title.padEnd(first) + cells.map((cell, n) => cell.padStart(widthOf(columns[n]?.head))).join('')
  const heads = columns.map(({ head }) => head)
  return [
    line(unit, heads),
    ...names.map((name) =>
      line(
        name,
        columns.map((column) => medianOf(results, name, column).toFixed(column.digits)),
      ),
    ),
  ]
}

const widthOf = (head = ''): number => Math.max(head.length, 8) + 2

/** The figures of one name. */
export function figuresOf<Name extends string, Measured>(
  unit: string,
  results: readonly Round<Name, Measured>[],
  columns: readonly Column<Name, Measured>[],
  name: Name,
): Figure[] {
  return columns.flatMap((column) =>
    column.better === undefined
      ? []
      : [{ name: `${unit}: ${column.head}`, value: medianOf(results, name, column), better: column.better }],
  )
}

function medianOf<Name extends string, Measured>(
  results: readonly Round<Name, Measured>[],
  name: Name,
  { of }: Column<Name, Measured>,
): number {
  return median(results.map((round) => of(round[name], round)))
}

export const medians = (results: readonly unknown[], of: string): string =>
  `medians of ${results.length} rounds of ${of}; a ratio is the median of the ratios of each round`

/** The middle of an odd number of values. */
export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}

/** Linux counts a process's time in hundredths of a second. */
const ticksPerSecond = 100

/** CPU seconds a server has used, by its `/metrics`. */
export const cpuOfServer = (url: string): Promise<number> => readMetric(url, 'process_cpu_seconds_total')

/** The resident memory of a server in bytes, by its `/metrics`. */
export const memoryOfServer = (url: string): Promise<number> =>
  readMetric(url, 'process_resident_memory_bytes')

async function readMetric(url: string, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  return Number(new RegExp(`${name} ([\\d.e+-]+)`).exec(text)?.[1])
}

/** CPU seconds of all running processes of a PostgreSQL on this machine. Needs Linux's `/proc`. */
export async function cpuOfDatabase(url: string): Promise<number> {
  return withConnection(url, async (client) => {
    const { rows } = await client.query('select pid from pg_stat_activity where pid <> pg_backend_pid()')
    return rows.reduce((sum, { pid }) => sum + cpuOfProcess(pid), 0)
  })
}

function cpuOfProcess(pid: number): number {
  const file = `/proc/${pid}/stat`
  // A worker of autovacuum may have ended meanwhile.
  if (!existsSync(file)) return 0
  const fields = readFileSync(file, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond
}

/** The statements run so far in the database, as PostgreSQL counts them, without those that a benchmark marks as its own. */
export async function statementsOf(databaseUrl: string): Promise<number> {
  return withConnection(databaseUrl, async (client) => {
    const { rows } = await client.query(
      `select coalesce(sum(calls), 0)::float8 as calls from pg_stat_statements s
       join pg_database d on d.oid = s.dbid where datname = current_database() and query not like '%/* bench */%'`,
    )
    return rows[0].calls
  })
}
