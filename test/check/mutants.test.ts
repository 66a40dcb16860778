import test from 'ava'
import { mutantsOf } from '../../scripts/mutate/mutants.js'

const changes = (text: string) => mutantsOf(text).map(({ change }) => change)

test('operators, constants, conditions, statements and calls are changed', (t) => {
  t.deepEqual(changes('const a = b < 5n && !c'), [
    'b < 5n && !c -> b < 5n || !c',
    'b < 5n -> b <= 5n',
    'b < 5n -> b >= 5n',
    '5n -> 6n',
    '!c -> c',
  ])
  t.deepEqual(changes('if (a) { b() } else throw c'), ['a -> true', 'a -> false', 'b() -> ;', 'throw c -> ;'])
  t.deepEqual(changes('if (a) b()'), ['a -> true', 'b() -> ;'])
  t.deepEqual(changes('const a = (b: 1 | 2) => b.sort().some(c)'), [
    'b.sort().some(c) -> b.sort().every(c)',
    'b.sort().some(c) -> undefined',
    'b.sort() -> b',
  ])
})

test('comparisons, signs, locks and conditions of SQL are changed, and assignments are not', (t) => {
  t.deepEqual(changes("const sql = `update a set b = b + $1 where (c > 0 or d) and e = 'x'`").slice(0, 6), [
    'b + $1 -> b - $1',
    'c > 0 -> c >= 0',
    "e = 'x' -> e <> 'x'",
    '(c > 0 or d) -> true',
    'd -> false',
    "e = 'x' -> true",
  ])
  t.deepEqual(changes("const sql = 'select a from b where c is null order by d desc for no key update'"), [
    'for no key update -> ',
    'is null -> is not null',
    'desc -> ',
    'c is null -> true',
  ])
})
