import { register } from 'node:module'
import { printProgress, Refusal } from '../../../scripts/bootstrap/progress.mjs'
import { withClosing } from '../../../scripts/kit/closing.js'
import { writeFigures } from '../../../scripts/kit/figures.js'
import { readOptions, usageOf } from '../../../scripts/kit/options.js'
import { textOf } from '../../../scripts/kit/report.js'
import { databasesOn, startServer } from '../../../scripts/simulate/database.js'
import { plants } from '../../../scripts/simulate/plants.js'
import { Met } from './draw.js'

const defaults = { traces: 0, seed: 0, plant: '' }
/** Traces in one database. */
const portion = 50
/** With so many every act must be among them. */
const enough = 1000

const usage = `npm run models
npm run models -- ${usageOf({ ...defaults, traces: 1000 })}

Without --traces: explores every order of acts of the models. With it: draws so many traces of the model of outgoing money, acts of
creators, workers, operators and the naira provider, and has the product do each act: its code above the ports, with a real PostgreSQL,
stopped wherever the model lets others act. After each act the row, its reviews, the books, and where each process stands must be as in
the model, and what the model refuses must change nothing. In every second portion the provider refuses a used reference. A difference
is told with the acts that lead to it; exit code 1.

--plant   takes out a rule, which must be found: ${Object.keys(plants).join(', ')}
`

async function main(): Promise<void> {
  const { options } = readOptions(process.argv.slice(2), defaults)
  const { traces, plant } = options
  if (plant !== '' && !Object.hasOwn(plants, plant))
    throw new Refusal(`--plant is one of ${Object.keys(plants).join(', ')}`)
  if (plant !== '')
    register('../../../scripts/simulate/plant-hook.js', import.meta.url, {
      data: plants[plant as keyof typeof plants],
    })
  const { everything, replayTraces } = await import('./replay.js')
  const { playNames, playOf } = await import('./plays.js')
  const seed = options.seed || (Date.now() % 1e9) + 1
  await withClosing(async (defer) => {
    const databases = await databasesOn(await startServer(defer, '.data/traces'), 'traces_')
    const met = [new Met(), new Met()] as const
    let steps = 0
    let difference: string | undefined
    for (let begun = 0; begun < traces && difference === undefined; begun += portion) {
      const nth = begun / portion
      const setting = { ...everything, deduplicates: nth % 2 === 1 }
      const plan = { seed: seed + nth, traces: Math.min(portion, traces - begun), setting }
      const replay = await replayTraces(databases, { ...plan, met: met[nth % 2 === 1 ? 1 : 0] })
      steps += replay.steps
      difference = replay.difference
      printProgress(`${begun + plan.traces} traces, ${steps} acts`)
    }
    const done = new Set(met.flatMap(({ acts }) => [...acts.keys()]).map(playOf))
    const left = playNames.filter((name) => !done.has(name))
    const faults = [
      ...(difference === undefined ? [] : [difference]),
      ...(difference === undefined && left.length > 0 && traces >= enough
        ? [`never taken: ${left.join('; ')}`]
        : []),
    ]
    const rows: [string, number][] = [
      ['traces', traces],
      ['acts', steps],
      ['states', met.reduce((sum, { states }) => sum + states.size, 0)],
    ]
    const kept = `the product does what the model says; ${done.size} of its ${playNames.length} kinds of acts were taken`
    process.stdout.write(textOf({ rows, faults, kept }, `seed ${seed}: ${Math.round(process.uptime())} s`))
    if (faults.length > 0) process.exitCode = 1
    else if (plant === '') writeFigures(`npm run models -- --traces ${traces}`, rows, seed)
  })
}

try {
  if (process.argv.includes('--help')) process.stdout.write(usage)
  else await main()
} catch (error) {
  process.stderr.write(
    `${error instanceof Refusal ? error.message : error instanceof Error ? error.stack : error}\n`,
  )
  process.exitCode = 1
}
// Processes that were killed in the run leave timers.
process.exit()
