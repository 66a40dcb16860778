import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { rulesFile } from './prometheus.js'
import { isCounter, type Scrape } from './scrape.js'

/** Every rule that is shipped. */
export const ruleNames: readonly string[] = [
  ...readFileSync(rulesFile, 'utf8').matchAll(/^ {6}- alert: (\S+)$/gm),
].map(([, name = '']) => name)

/** The longest window that a rule looks back, six hours, is not waited for. The longest `for` is an hour. */
const beforeMinutes = 20
const duringMinutes = 90
const outputBytes = 64 * 1024 * 1024

/** What was read before a cause and while it lasted. */
export interface Observation {
  readonly before: Scrape
  readonly during: Scrape
  /** What part of the growth of a counter comes again in every minute that the cause lasts. 0: nothing more is counted. */
  readonly perMinute: number
}

export interface Verdict {
  readonly before: readonly string[]
  readonly during: readonly string[]
}

/** Gives what was read to the rules, minute by minute, and returns what fires. Nothing is waited for. */
export async function judge(folder: string, observation: Observation): Promise<Verdict> {
  const fired = (minutes: number): string =>
    `count by (alertname) (max_over_time(ALERTS{alertstate="firing"}[${minutes}m]))`
  const test = {
    interval: '1m',
    input_series: seriesOf(observation),
    promql_expr_test: [
      // A sample that is never there: promtool prints what is.
      { expr: fired(beforeMinutes), eval_time: `${beforeMinutes - 1}m`, exp_samples: never },
      { expr: fired(duringMinutes), eval_time: `${beforeMinutes + duringMinutes}m`, exp_samples: never },
    ],
  }
  const file = join(folder, 'observed.test.yml')
  // JSON is YAML.
  writeFileSync(file, JSON.stringify({ rule_files: [rulesFile], evaluation_interval: '1m', tests: [test] }))
  const output = await promtool(file)
  // One for each question, in their order.
  const answers = [...output.matchAll(/^ +got: ?(.*)$/gm)].map(([, got = '']) =>
    [...got.matchAll(/alertname="(\w+)"/g)].map(([, name = '']) => name),
  )
  const [before, during] = answers
  if (before === undefined || during === undefined) throw new Error(`promtool: ${output}`)
  return { before, during }
}

const never = [{ labels: '{alertname="never"}', value: 1 }]

function promtool(file: string): Promise<string> {
  return new Promise((done) => {
    execFile('promtool', ['test', 'rules', file], { maxBuffer: outputBytes }, (_, out, err) =>
      done(`${out}${err}`),
    )
  })
}

function seriesOf({ before, during, perMinute }: Observation): { series: string; values: string }[] {
  const names = new Set([...before.values.keys(), ...during.values.keys()])
  return [...names].map((series) => {
    const first = before.values.get(series)
    const then = during.values.get(series)
    const start = first === undefined ? `_x${beforeMinutes - 1}` : `${text(first)}x${beforeMinutes - 1}`
    if (then === undefined) return { series, values: start }
    const counted = isCounter(series)
    // A process that was started again counts from 0.
    const zero = counted && during.startedAgain(before, series) ? ' 0' : ''
    const growth = counted ? during.growth(before, series) * perMinute : 0
    return { series, values: `${start}${zero} ${text(then)}+${text(growth)}x${duringMinutes + 1}` }
  })
}

/** No exponents: promtool reads none. */
function text(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toFixed(6)
}
