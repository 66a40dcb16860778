import test from 'ava'
import {
  checkStep,
  isFinal,
  openStates,
  type StateMachine,
  sourcesOf,
  stepSql,
  stepsBetween,
} from '../../src/kernel/state-machine.js'

const step = <S extends string>(from: S, to: S) => ({ from, to, by: 'a hand', entries: [] })
const door: StateMachine<'open' | 'shut' | 'locked' | 'walled up'> = {
  subject: 'a door',
  table: 'doors',
  column: 'state',
  states: ['open', 'shut', 'locked', 'walled up'],
  initial: ['open'],
  steps: [step('open', 'shut'), step('shut', 'open'), step('shut', 'locked'), step('locked', 'walled up')],
}

test('the sources of a state are all states one step away', (t) => {
  t.deepEqual(sourcesOf(door, 'open'), ['shut'])
  t.deepEqual(sourcesOf(door, 'shut'), ['open'])
  t.deepEqual(sourcesOf(door, 'walled up'), ['locked'])
})

test('a state without steps is final, and every other one is open', (t) => {
  t.true(isFinal(door, 'walled up'))
  t.deepEqual(openStates(door), ['open', 'shut', 'locked'])
})

test('the steps between two states are the fewest, in order, and none where no way leads', (t) => {
  const between = (from: (typeof door.states)[number], to: (typeof door.states)[number]) =>
    stepsBetween(door.steps, from, to).map((one) => one.to)
  t.deepEqual(between('open', 'walled up'), ['shut', 'locked', 'walled up'])
  t.deepEqual(between('shut', 'open'), ['open'])
  t.deepEqual(between('open', 'open'), [])
  t.deepEqual(between('walled up', 'open'), [])
  const shortcut = [...door.steps, step('open' as const, 'locked' as const)]
  t.deepEqual(
    stepsBetween(shortcut, 'open', 'locked').map(({ from }) => from),
    ['open'],
  )
})

test('a step that is not listed throws, and a state may stay what it is', (t) => {
  t.throws(() => checkStep(door, 'open', 'locked'), { message: 'a door does not move from open to locked' })
  t.notThrows(() => checkStep(door, 'walled up', 'walled up'))
  t.throws(() => stepSql(door, 'locked', ['shut', 'walled up']))
})

test('the SQL of a step names the new state and the states before', (t) => {
  t.deepEqual(stepSql(door, 'shut'), { set: `state = 'shut'`, from: `state in ('open')` })
  t.is(stepSql(door, 'locked', ['shut', 'locked']).from, `state in ('shut', 'locked')`)
})
