import test from 'ava'
import type { Knex } from 'knex'
import { up } from '../../migrations/0003-tips.js'
import { defineLifecycle, isFinal, sourcesOf } from '../../src/kernel/state-machine.js'
import { type TipStatus, tipLifecycle } from '../../src/tips/lifecycle.js'

const door = defineLifecycle<'open' | 'shut' | 'walled up'>('open', {
  open: ['shut'],
  shut: ['open', 'walled up'],
  'walled up': [],
})

test('the sources of a state are all states one move away', (t) => {
  t.deepEqual(sourcesOf(door, 'open'), ['shut'])
  t.deepEqual(sourcesOf(door, 'shut'), ['open'])
  t.deepEqual(sourcesOf(door, 'walled up'), ['shut'])
})

test('a state without moves is final', (t) => {
  t.true(isFinal(door, 'walled up'))
  t.false(isFinal(door, 'shut'))
})

test('a state without moves to it has no sources', (t) => {
  t.deepEqual(sourcesOf(tipLifecycle, 'pending'), [], 'no tip becomes pending again')
})

test('sources and moves agree', (t) => {
  const states = Object.keys(tipLifecycle.moves) as TipStatus[]
  for (const from of states)
    for (const to of states)
      t.is(
        sourcesOf(tipLifecycle, to).includes(from),
        tipLifecycle.moves[from].includes(to),
        `${from} > ${to}`,
      )
})

/** The SQL of the migration. */
async function migrationSql(): Promise<string> {
  const statements: string[] = []
  await up({ raw: async (sql: string) => statements.push(sql) } as unknown as Knex)
  return statements.join('\n')
}

function quoted(text: string | undefined): string[] {
  return [...(text ?? '').matchAll(/'([^']*)'/g)].map(([, word = '']) => word)
}

test('the database trigger allows exactly the moves of the lifecycle', async (t) => {
  const sql = await migrationSql()
  const trigger =
    /create trigger \w+ before update of status on tips .*?execute function \w+\(([^)]*)\)/s.exec(sql)
  const allowed = quoted(trigger?.[1])
  const listed = Object.entries(tipLifecycle.moves).flatMap(([from, moves]) =>
    moves.map((to) => `${from}>${to}`),
  )
  t.deepEqual(allowed.toSorted(), listed.toSorted())
})

test('the database has the same states and the same initial one', async (t) => {
  const sql = await migrationSql()
  const states = /create type tip_status as enum \(([^)]*)\)/.exec(sql)
  const column = /^ *status tip_status not null default '(\w+)'/m.exec(sql)
  t.deepEqual(quoted(states?.[1]), Object.keys(tipLifecycle.moves))
  t.is(column?.[1], tipLifecycle.initial)
})
