import { once } from 'node:events'
import {
  closeSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { availableParallelism } from 'node:os'
import { join, resolve } from 'node:path'
import { startChild, stopChild } from './bootstrap/child-process.mjs'
import { takeLock } from './bootstrap/lock.mjs'
import { printProgress, Refusal } from './bootstrap/progress.mjs'
import { dropDatabases, ensureTemplate, templateName } from './dev/postgres/test-database.js'
import { type Defer, withClosing } from './kit/closing.js'
import { writeFigures } from './kit/figures.js'
import { readOptions } from './kit/options.js'
import { startServers } from './kit/servers.js'
import { explained } from './mutate/explained.js'
import { type Mutant, mutantsOf } from './mutate/mutants.js'

const usage = `npm run mutate [-- <subject> ...]

Makes copies of what decides about money with one small fault each, and runs its tests against each copy. A fault that no test notices
and that scripts/mutate/explained.ts does not explain is a failure.
`

interface Subject {
  /** The test files of each source, the quickest first. The next one runs only for a mutant that those before have not noticed. */
  readonly sources: Readonly<Record<string, readonly string[]>>
  readonly servers?: true
}

const [transfers, receivables] = ['test/ledger/transfers.test.ts', 'test/ledger/receivables.test.ts']
const races = 'test/ledger/races.test.ts'

const subjects: Readonly<Record<string, Subject>> = {
  money: { sources: { 'src/kernel/money.ts': ['test/kernel/money.test.ts'] } },
  decide: { sources: { 'src/outgoing/decide.ts': ['test/withdrawals/decide.test.ts'] } },
  ledger: {
    sources: {
      'src/ledger/accounts.ts': [transfers, receivables],
      'src/ledger/post-statement.ts': [transfers, receivables, races],
      'src/ledger/transfers.ts': [transfers, receivables],
      'src/ledger/bulk-transfers.ts': [transfers, receivables],
      'src/ledger/receivables/read-receivables.ts': [receivables],
      'src/ledger/receivables/receivables.ts': [receivables],
    },
    servers: true,
  },
}

const folder = '.test-data/mutants'
const progressEvery = 20
const longestMs = 300_000
/** A mutant that never ends is noticed after so many times what the tests take without a fault. */
const patience = 5
const patienceMs = 10_000

/** Where mutants run, one at a time: a copy of the compiled code, and what its tests need. */
interface Lane {
  readonly folder: string
  readonly env: NodeJS.ProcessEnv
  /** Removes what a run has left. */
  clean(): Promise<void>
}

function copyCode(index: number, defer: Defer): string {
  const copy = join(folder, String(index))
  const remove = (): void => rmSync(copy, { recursive: true, force: true })
  remove()
  defer(remove)
  mkdirSync(join(copy, 'dist'), { recursive: true })
  for (const part of ['src', 'test', 'scripts', 'workers', 'migrations', 'pages'])
    cpSync(join('dist', part), join(copy, 'dist', part), { recursive: true })
  for (const link of ['node_modules', 'dist/node_modules']) symlinkSync(resolve(link), join(copy, link))
  copyFileSync('package.json', join(copy, 'package.json'))
  return copy
}

async function openLanes(subject: Subject, defer: Defer): Promise<Lane[]> {
  const settings = ['fsync=off', 'full_page_writes=off', 'autovacuum=off', 'max_connections=400']
  const flags = settings.flatMap((setting) => ['-c', setting])
  const servers = subject.servers && (await startServers(folder, defer, flags))
  if (servers !== undefined) await ensureTemplate(servers.url(''))
  return Array.from({ length: availableParallelism() }, (_, index) => {
    const prefix = `mutant_${index}_`
    const env = servers && {
      TEST_DATABASE_URL: servers.url(''),
      TEST_TEMPLATE: templateName,
      TEST_DATABASE_PREFIX: prefix,
      TEST_REDIS_URL: servers.redisUrl,
    }
    return {
      folder: copyCode(index, defer),
      // The same random tests against each mutant.
      env: { ...process.env, ...env, TEST_SEED: '1', LEDGER_SEED: '1' },
      clean: async () => servers && dropDatabases(servers.url(''), prefix),
    }
  })
}

/** How long each test file may take. */
type Limits = ReadonlyMap<string, number>

/** Runs the tests without a fault, to know how long they take. */
async function measureTests(lane: Lane, { sources }: Subject): Promise<Limits> {
  const limits = new Map<string, number>()
  for (const test of new Set(Object.values(sources).flat())) {
    const startedAt = performance.now()
    if (!(await passes(lane, test, longestMs)))
      throw new Refusal(
        `the tests fail without a fault, too: ${readFileSync(join(lane.folder, 'log'), 'utf8')}`,
      )
    limits.set(test, patience * (performance.now() - startedAt) + patienceMs)
  }
  return limits
}

/** Whether a test file passes. It does not if it takes longer than it may. */
async function passes(lane: Lane, test: string, mostMs: number): Promise<boolean> {
  const log = openSync(join(lane.folder, 'log'), 'w')
  const ava = [resolve('scripts/bootstrap/ava.mjs'), '--fail-fast', compiledFile(test)]
  const program = { command: process.execPath, args: ava, env: lane.env, cwd: lane.folder }
  const child = startChild({ ...program, signal: 'SIGTERM' }, log, log)
  const timer = setTimeout(() => void stopChild(child, 0), mostMs)
  const [code] = await once(child, 'exit')
  clearTimeout(timer)
  child.stdin?.end()
  closeSync(log)
  await lane.clean()
  return code === 0
}

const compiledFile = (source: string): string => join('dist', source.replace(/ts$/, 'js'))

interface Place extends Mutant {
  readonly file: string
}

async function isNoticed(
  lane: Lane,
  { sources }: Subject,
  limits: Limits,
  { file, code }: Place,
): Promise<boolean> {
  const target = join(lane.folder, compiledFile(file))
  const original = readFileSync(target)
  writeFileSync(target, code)
  try {
    for (const test of sources[file] ?? [])
      if (!(await passes(lane, test, limits.get(test) ?? longestMs))) return true
    return false
  } finally {
    writeFileSync(target, original)
  }
}

const nameOf = ({ file, line, change }: Omit<Place, 'code'>): string => `${file}: ${line}\n        ${change}`
const isExplained = new Set(
  explained.flatMap(({ file, mutants }) => mutants.map(([line, change]) => nameOf({ file, line, change }))),
)

type Outcome = 'noticed' | 'explained' | 'unnoticed'
type Counts = Record<Outcome, number>

/** Tries every mutant of a subject, several at a time. Returns how many there are of each outcome. */
async function trySubject(name: string, subject: Subject): Promise<Counts> {
  const mutants = Object.keys(subject.sources).flatMap(mutantsIn)
  const old = outdated(mutants, subject)
  if (old.length > 0) throw new Refusal(`explained.ts has mutants that are not there:\n${old.join('\n')}`)
  return withClosing(async (defer) => {
    const lanes = await openLanes(subject, defer)
    const limits = await measureTests(lanes[0] as Lane, subject)
    const outcomeOf = async (lane: Lane, mutant: Place): Promise<Outcome> => {
      if (isExplained.has(nameOf(mutant))) return 'explained'
      return (await isNoticed(lane, subject, limits, mutant)) ? 'noticed' : 'unnoticed'
    }
    const counts: Counts = { noticed: 0, explained: 0, unnoticed: 0 }
    const left = mutants.entries()
    const work = async (lane: Lane): Promise<void> => {
      for (const [index, mutant] of left) {
        const outcome = await outcomeOf(lane, mutant)
        counts[outcome]++
        if (outcome === 'unnoticed') printProgress(`not noticed: ${nameOf(mutant)}`)
        if (index % progressEvery === 0) printProgress(`${name}: ${index} of ${mutants.length}`)
      }
    }
    await Promise.all(lanes.map(work))
    return counts
  })
}

function mutantsIn(file: string): Place[] {
  return mutantsOf(readFileSync(file, 'utf8')).map((mutant) => ({ ...mutant, file }))
}

/** Explanations of mutants that are not there any more, in these files. */
function outdated(mutants: readonly Place[], { sources }: Subject): string[] {
  const there = new Set(mutants.map(nameOf))
  const files = Object.keys(sources)
  return [...isExplained].filter(
    (name) => files.some((file) => name.startsWith(`${file}: `)) && !there.has(name),
  )
}

function lineOf(cells: readonly (string | number)[]): string {
  return cells
    .map((cell, index) => (index === 0 ? String(cell).padEnd(10) : String(cell).padStart(12)))
    .join('')
}

async function main(names: readonly string[]): Promise<number> {
  const chosen = names.length > 0 ? names : Object.keys(subjects)
  const unknown = chosen.find((name) => !Object.hasOwn(subjects, name))
  if (unknown !== undefined) throw new Refusal(`there is no subject ${unknown}\n${usage}`, 2)
  mkdirSync(folder, { recursive: true })
  const lock = takeLock(join(folder, 'run.lock'))
  if (!lock.taken) throw new Refusal(`npm run mutate already runs in this folder (process ${lock.pid})`)
  process.once('exit', lock.release)
  const lines = [lineOf(['', 'mutants', 'noticed', 'explained', 'unnoticed', '% noticed'])]
  const rows: [string, string][] = []
  let unnoticed = 0
  for (const name of chosen) {
    const counts = await trySubject(name, subjects[name] as Subject)
    const all = counts.noticed + counts.explained + counts.unnoticed
    unnoticed += counts.unnoticed
    const share = ((100 * counts.noticed) / all).toFixed(1)
    rows.push([name, `${share} % of ${all}`])
    lines.push(lineOf([name, all, counts.noticed, counts.explained, counts.unnoticed, share]))
  }
  process.stdout.write(`${lines.join('\n')}\n`)
  if (unnoticed === 0 && names.length === 0) writeFigures('npm run mutate', rows)
  return unnoticed === 0 ? 0 : 1
}

try {
  const { options, names } = readOptions(process.argv.slice(2), { help: false })
  if (options.help) process.stdout.write(usage)
  else process.exitCode = await main(names)
} catch (error) {
  process.stderr.write(`${error instanceof Refusal ? error.message : error}\n`)
  process.exitCode = error instanceof Refusal ? error.exitCode : 1
}
