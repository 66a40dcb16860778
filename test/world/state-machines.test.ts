import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import type { Knex } from 'knex'
import { type AnyMachine, machines } from '../../scripts/check/state-machines.js'
import {
  neverSentStates,
  openStatuses,
  outgoingStatuses,
  sendStates,
  sendStatesOf,
} from '../../src/outgoing/lifecycle.js'
import { statusMachine } from '../../src/withdrawals/lifecycle.js'
import { useWorld } from '../helpers/servers/world.js'

const world = useWorld(test)

const tables = machines.map(({ machine }) => machine)

type Columns = Readonly<Record<string, string>>

/** The columns that give a row its state where no column has its name. */
const stamps: Readonly<Record<string, Readonly<Record<string, Columns>>>> = {
  review_items: {
    open: { outdated_at: 'null', resolved_at: 'null' },
    closed: { outdated_at: 'null', resolved_at: 'now()' },
    outdated: { outdated_at: 'now()', resolved_at: 'now()' },
  },
  sdk_sessions: { open: { consumed_at: 'null' }, consumed: { consumed_at: 'now()' } },
}
const columnsOf = ({ table, column }: AnyMachine, state: string): Columns =>
  stamps[table]?.[state] ?? { [column]: `'${state}'` }

const pair = (from: string, to: string): string => `${from} > ${to}`
const listed = ({ steps }: Pick<AnyMachine, 'steps'>): string[] =>
  steps.map(({ from, to }) => pair(from, to)).sort()

class Undone extends Error {}

/** Runs work in a transaction and takes it back. */
async function tryOut(work: (trx: Knex.Transaction) => Promise<void>): Promise<void> {
  await world()
    .db.transaction(async (trx) => {
      await work(trx)
      throw new Undone()
    })
    .catch((error: unknown) => {
      if (!(error instanceof Undone)) throw error
    })
}

/** Whether the database accepts a statement. Only a refusal by a check or a trigger counts as one. */
async function accepts(trx: Knex, sql: string): Promise<boolean> {
  await trx.raw('savepoint attempt')
  try {
    await trx.raw(sql)
    return true
  } catch (error) {
    if ((error as { code?: string }).code !== '23514') throw error
    return false
  } finally {
    await trx.raw('rollback to attempt')
  }
}

/** Every step between two different states that the table's own triggers accept, tried on an empty copy of the table. */
async function triedSteps(machine: AnyMachine): Promise<string[]> {
  const { table, states } = machine
  const found: string[] = []
  await tryOut(async (trx) => {
    await trx.raw(`create temp table trial on commit drop as select * from ${table} limit 0`)
    const { rows: triggers } = await trx.raw(
      `select pg_get_triggerdef(oid) as text from pg_trigger
       where tgrelid = '${table}'::regclass and not tgisinternal and tgtype & 1 = 1 and tgtype & 16 = 16`,
    )
    for (const { text } of triggers) await trx.raw(text.replace(` ON public.${table} `, ' ON pg_temp.trial '))
    for (const from of states) {
      const row = columnsOf(machine, from)
      await trx.raw('delete from trial')
      await trx.raw(
        `insert into trial (${Object.keys(row).join(', ')}) values (${Object.values(row).join(', ')})`,
      )
      for (const to of states.filter((state) => state !== from)) {
        const sets = Object.entries(columnsOf(machine, to)).map(([column, value]) => `${column} = ${value}`)
        if (await accepts(trx, `update trial set ${sets.join(', ')}`)) found.push(pair(from, to))
      }
    }
  })
  return found.sort()
}

/** The steps that only one of the two knows. */
function differences(accepted: readonly string[], { subject, steps }: AnyMachine): string[] {
  const table = listed({ steps })
  return [
    ...accepted
      .filter((step) => !table.includes(step))
      .map((step) => `${subject}: not in the table: ${step}`),
    ...table
      .filter((step) => !accepted.includes(step))
      .map((step) => `${subject}: refused by the database: ${step}`),
  ]
}

test('the triggers of the database accept exactly the steps of the tables', async (t) => {
  const found: string[] = []
  for (const machine of tables) found.push(...differences(await triedSteps(machine), machine))
  t.deepEqual(found, [])
})

test('every step that could be removed from a table or added to it is noticed', async (t) => {
  for (const machine of tables) {
    const accepted = await triedSteps(machine)
    const { states, steps } = machine
    const others = states
      .flatMap((from) => states.map((to) => ({ from, to, by: '', entries: [] })))
      .filter(({ from, to }) => from !== to && !listed(machine).includes(pair(from, to)))
    const mutants = [
      ...steps.map((removed) => steps.filter((step) => step !== removed)),
      ...others.map((added) => [...steps, added]),
    ]
    t.is(mutants.length, states.length * (states.length - 1))
    for (const mutant of mutants) t.is(differences(accepted, { ...machine, steps: mutant }).length, 1)
  }
})

test('a table lists each step once, between known states, and its entries are functions', (t) => {
  const code = sources('src').map(([, text]) => text)
  for (const { subject, states, initial, steps } of tables) {
    t.deepEqual(listed({ steps }), [...new Set(listed({ steps }))], subject)
    for (const { from, to, entries } of steps) {
      t.true(states.includes(from) && states.includes(to) && from !== to, `${subject}: ${from} > ${to}`)
      for (const entry of entries)
        t.true(
          code.some((text) => text.includes(`function ${entry}(`)),
          entry,
        )
    }
    for (const state of states)
      t.true(
        initial.includes(state) || steps.some(({ to }) => to === state),
        `${subject}: nothing leads to ${state}`,
      )
  }
})

test('a new row has the first initial state, and each status of a withdrawal has its time', async (t) => {
  for (const { table, column, initial, subject } of tables) {
    if (stamps[table] !== undefined) continue
    const row = await world()
      .db('information_schema.columns')
      .where({ table_schema: 'public', table_name: table, column_name: column })
      .first('column_default')
    t.regex(String(row?.column_default), new RegExp(`^'${initial[0]}'::`), subject)
  }
  const columns = await world().db('withdrawals').columnInfo()
  for (const { to } of statusMachine.steps) t.true(`${to}_at` in columns, to)
})

const statesAndSends = outgoingStatuses.flatMap((status) =>
  sendStates.map((sendState) => ({ status, sendState, name: `${status}/${sendState}` })),
)

/** A withdrawal in these states whose other columns agree with them. */
function withdrawalSql({ status, sendState }: (typeof statesAndSends)[number]): string {
  const sent = neverSentStates.includes(sendState) ? '0, null' : '1, now()'
  const asked = sendState === 'confirmation_hold' ? `'new_account'` : 'null'
  const resolution = openStatuses.includes(status) ? 'null' : '2'
  return `
    insert into withdrawals (user_id, reference, currency, rate_id, debit_micro, gross_kobo, fee_kobo, net_kobo, bank_code,
      sealed_account, account_last_four, account_hash, hold_transfer, resolution_transfer, due_at, sends, sent_at, confirmation_reason,
      status, send_state)
    values (gen_random_uuid(), 'FIATPAY-' || repeat('A', 32), 'USDC', 1, 1, 2, 1, 1, '058', '', '6789', sha256(''), 1,
      ${resolution}, null, ${sent}, ${asked}, '${status}', '${sendState}')`
}

test('the database accepts exactly the listed pairs of status and send state', async (t) => {
  const accepted: string[] = []
  await tryOut(async (trx) => {
    // Without foreign keys. Checks hold all the same.
    await trx.raw('set local session_replication_role = replica')
    for (const both of statesAndSends) if (await accepts(trx, withdrawalSql(both))) accepted.push(both.name)
  })
  const may = statesAndSends.filter(({ status, sendState }) => sendStatesOf[status].includes(sendState))
  t.deepEqual(
    accepted,
    may.map(({ name }) => name),
  )
})

/** The files below a folder and their text. */
function sources(folder: string): [file: string, text: string][] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => [join(folder, name), readFileSync(join(folder, name), 'utf8')])
}

test('one function of each machine writes its state', (t) => {
  const writers = new Set<string>()
  const folders = ['src', 'workers', 'scripts/ops']
  for (const [file, text] of folders.flatMap(sources))
    for (const { table, column } of tables) {
      const columns = stamps[table] === undefined ? [column] : ['consumed_at', 'outdated_at', 'resolved_at']
      const updates = text.matchAll(
        new RegExp(`update ${table}\\b([\\s\\S]*?)(?:\\bwhere\\b|\\bfrom\\b|\`)`, 'g'),
      )
      for (const [, sets = ''] of updates)
        if (columns.some((name) => new RegExp(`\\b${name} =`).test(sets))) writers.add(`${table}: ${file}`)
    }
  t.deepEqual([...writers].sort(), [
    // Tips do not import the SDK. One statement because of the load (docs/decisions/0009).
    'sdk_sessions: src/tips/confirm/confirm-tips.ts',
    'sdk_sessions: src/tips/fiat-tip.ts',
    'sweeps: src/treasury/sweeps/steps.ts',
    'wallet_transfers: src/treasury/take-outs/steps.ts',
    // Its steps out of a hold. What is sent, by any kind, is in src/outgoing/steps.ts.
    'withdrawals: src/withdrawals/confirmation/release.ts',
    // Any webhook may be about one that waits to be sent again: one statement.
    'withdrawals: src/withdrawals/work-queue.ts',
  ])
})
