import test from 'ava'
import { compareFigures } from '../../scripts/bench/compare-releases.js'
import type { Figure } from '../../scripts/bench/measurement.js'

const runs = (values: readonly number[], better: Figure['better']): Figure[][] =>
  values.map((value) => [{ name: 'figure', value, better }])
const wordOf = (before: readonly number[], after: readonly number[], better: Figure['better'] = 'lower') =>
  compareFigures(runs(before, better), runs(after, better))[0]?.word

test('a release is slower only when every run of it is, and by more than three percent', (t) => {
  t.is(wordOf([10, 11, 10], [12, 13, 12]), 'slower')
  t.is(wordOf([12, 13, 12], [10, 11, 10]), 'faster')
  t.is(wordOf([10, 11, 10], [12, 13, 11]), 'same', 'the ranges touch')
  t.is(wordOf([10, 10.1, 10], [10.2, 10.3, 10.2]), 'same', 'two percent')
  t.is(wordOf([100, 110, 105], [80, 90, 85], 'higher'), 'slower')
  t.is(wordOf([80, 90, 85], [100, 110, 105], 'higher'), 'faster')
})

test('the noise is half the range of the runs, of the release where it is greater', (t) => {
  const [compared] = compareFigures(runs([10, 12, 11], 'lower'), runs([10, 20, 10], 'lower'))
  t.is(compared?.noise, 0.5)
  t.is(compared?.before, 11)
  t.is(compared?.gain, 1 / 11)
})

test('a figure that only one release has is not compared', (t) => {
  t.deepEqual(compareFigures(runs([1], 'lower'), [[]]), [])
})
