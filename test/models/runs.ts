import { appendFileSync } from 'node:fs'
import type { ExecutionContext, TestFn } from 'ava'
import type { StateMachine } from '../../src/kernel/state-machine.js'
import { type Exploration, explore, type Model, type Steps } from './checker.js'

// How the test files run a model: as it is, where no order of acts may break a rule; without each of the fixes of past bugs, where
// one must; and against the tables of lifecycle.ts.

/** Whether this run may take longer than the tests of one change (`npm run models`). */
export const takesLong = process.env['TEST_RUNS'] === 'all'

/** An exploration does not wait for anything, so only a machine that is busy with other work makes it long. */
const longestMs = 1_200_000

function tell({ states, acts, depth }: Exploration): string {
  const count = (value: number): string => value.toLocaleString('en')
  return `${count(states)} states, ${count(acts)} acts, the furthest after ${depth}`
}

const storyOf = (story: readonly string[]): string =>
  story.map((act, index) => `${String(index + 1).padStart(3)}. ${act}`).join('\n')

/** Tells `npm run models` (scripts/bootstrap/unit/models.mjs) what was explored. */
function note(counts: Readonly<Record<string, number>>): void {
  const file = process.env['MODEL_COUNTS']
  if (file === undefined) return
  appendFileSync(
    file,
    Object.entries(counts)
      .map(([name, count]) => `${name} ${count}\n`)
      .join(''),
  )
}

/** No order of acts breaks a rule. */
export function holds<State>(t: ExecutionContext, model: Model<State>): void {
  t.timeout(longestMs)
  const result = explore(model)
  t.log(tell(result))
  note({ states: result.states, acts: result.acts })
  if (result.fault !== undefined) t.log(storyOf(result.fault.story))
  t.is(result.fault?.rule, undefined)
}

interface PastBug {
  readonly fix: string
  /** The rule that breaks without it. */
  readonly rule: string
}

/** Each past bug is found again when its fix is taken out. */
export function findsPastBugs<Bug extends PastBug, State>(
  test: TestFn,
  bugs: readonly Bug[],
  modelOf: (bug: Bug) => Model<State>,
): void {
  for (const bug of bugs)
    test(`found again when this is taken out: ${bug.fix}`, (t) => {
      t.timeout(longestMs)
      const { fault } = explore(modelOf(bug))
      t.log(storyOf(fault?.story ?? []))
      t.is(fault?.rule, bug.rule)
      note({ 'past bugs found again': 1 })
    })
}

/** The model takes every step of a table, but those that it leaves out. That it takes no other step `Steps` has asserted. */
export function takesEveryStep<S extends string>(
  t: ExecutionContext,
  steps: Steps,
  machine: StateMachine<S>,
  leftOut: readonly string[] = [],
): void {
  t.deepEqual(steps.missing(machine), leftOut)
}
