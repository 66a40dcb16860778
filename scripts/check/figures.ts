import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { askGit, type Figures, figuresFolder } from '../kit/figures.js'
import { goalCells, promisedRuns } from '../kit/promised-runs.js'
import { keepDocument, table } from './keep-document.js'

// Keeps the table of figures in docs/promises.md, and the list of the runs that promises name. It says, and does not fail, when what
// a run has measured has changed since, and when figures are missing.

const document = 'docs/promises.md'
const [begin, end] = ['<!-- figures: made by npm run check -- --fix -->\n', '\n<!-- end of figures -->']

const files = existsSync(figuresFolder) ? readdirSync(figuresFolder).sort() : []
const all = files.map((file): Figures => JSON.parse(readFileSync(join(figuresFolder, file), 'utf8')))

/** A line for each row that is shown. The run, its date and its commit stand in the first. */
function linesOf({ run, seed, date, commit, rows }: Figures): string[][] {
  const names = promisedRuns[run]?.shows.map((shown) => (typeof shown === 'string' ? shown : shown.row))
  const shown = rows.filter(([name]) => names?.includes(name))
  if (shown.length === 0) throw new Error(`scripts/kit/promised-runs.ts shows no row of ${run}`)
  const command = `\`${run}${seed === undefined ? '' : ` --seed ${seed}`}\``
  return shown.map(([name, value], n) => {
    const of = n === 0 ? [command, `${date}, ${commit}`] : ['', '']
    return [of[0], name, ...goalCells(run, name, value), of[1]].map((cell) => ` ${cell} `)
  })
}

for (const { run, commit } of all) {
  const changed = askGit('diff', '--name-only', commit, '--', ...(promisedRuns[run]?.covers ?? []))
  if (changed)
    process.stdout.write(
      `${run} measured ${commit}, since which ${changed.split('\n').length} files of what it measures have changed\n`,
    )
}

const [before = '', rest = ''] = readFileSync(document, 'utf8').split(begin)
const linked = before.split('\n').filter((line) => line.includes('(#measured)'))
const isLinked = (run: string): boolean =>
  linked.some((line) => line.includes(`\`${run}\``) || line.includes(`\`${run} --seed `))
for (const run of Object.keys(promisedRuns).filter(isLinked))
  if (!all.some((figures) => figures.run === run))
    process.stdout.write(`${document} links to the figures of ${run}, which are not kept yet\n`)

const named = [...before.matchAll(/`(npm run (?:models|mutate|(?:faults|bench) -- [\w-]+))/g)].map(
  ([, run = '']) => run,
)
const faults = [
  ...named
    .filter((run) => !Object.keys(promisedRuns).some((known) => known.startsWith(run)))
    .map((run) => `${document} names ${run}, which scripts/kit/promised-runs.ts does not have`),
  ...Object.entries(promisedRuns).flatMap(([run, { covers }]) => [
    ...(before.includes(`\`${run}`) ? [] : [`${document} does not name ${run}`]),
    ...covers.filter((path) => !existsSync(path)).map((path) => `${run} covers ${path}, which is not there`),
  ]),
]
for (const fault of faults) process.stdout.write(`${fault}\n`)
if (faults.length > 0) process.exitCode = 1
const text = table([' run ', ' counted ', ' before ', ' now ', ' goal ', ' of '], all.flatMap(linesOf))
keepDocument(document, `${before}${begin}${text}${end}${rest.split(end)[1] ?? ''}`)
