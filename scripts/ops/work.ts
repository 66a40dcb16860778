import type { Knex } from 'knex'
import {
  countWork,
  listWork,
  makeRowDue,
  type WorkCount,
  type WorkRow,
} from '../../src/operators/work-rows.js'
import { type WorkKind, workKinds } from '../../src/platform/queue/wake-ups.js'
import {
  applyOptions,
  defineCommand,
  defineOptions,
  type Outcome,
  parseVerb,
  type Values,
  wholeNumber,
} from './support/command.js'
import { applyHint, type Order, RefusedError, UsageError } from './support/order.js'
import { withDatabase } from './support/services.js'

const options = defineOptions(applyOptions, {
  '--kind <worker>': workKinds.join(', '),
  '--limit <n>': 'for list: at most this many; default 100',
})

/** Shows what each worker has to do, and makes a row that waits after an error due now. */
const usage = `npm run ops -- work list --kind mailer
npm run ops -- work <command> [<row>] [options]

  list                  without --kind: how much work each worker has; with --kind: its rows, failing rows first
  retry <row>           makes a row due now, instead of at the end of its pause. Not for withdrawals: payouts ask and payouts
                        replay check that it is safe`

type Given = Values<typeof options>

const maxLimit = 10_000
const defaultLimit = 100

function parseKind(kind: string | undefined): WorkKind {
  const found = workKinds.find((one) => one === kind)
  if (found === undefined) throw new UsageError(`--kind needs one of ${workKinds.join(', ')}`)
  return found
}

async function list(db: Knex, { kind, limit = String(defaultLimit) }: Given): Promise<Outcome> {
  if (kind === undefined) {
    const counts = await countWork(db)
    return { text: counts.map(countLine).join('\n'), json: { work: counts } }
  }
  const count = wholeNumber('--limit', limit, 1, maxLimit)
  const rows = await listWork(db, parseKind(kind), count)
  return {
    text: rows.length === 0 ? 'no row is waiting for this worker' : rows.map(rowLine).join('\n'),
    json: { rows },
  }
}

function countLine({ kind, table, due, later, failing, oldestSeconds }: WorkCount): string {
  const oldest = oldestSeconds === null ? '' : `, the oldest for ${Math.round(oldestSeconds)} s`
  return `${kind.padEnd(11)} ${table.padEnd(16)} ${due} due${oldest}; ${failing} failing; ${later} later`
}

function rowLine({ id, dueAt, attempts, lastError }: WorkRow): string {
  return `${dueAt.toISOString()}  ${String(attempts).padStart(4)} attempts  ${id}  ${lastError ?? ''}`.trimEnd()
}

async function retry(db: Knex, row: string, given: Given, order: Order): Promise<Outcome> {
  const kind = parseKind(given.kind)
  if (kind === 'payouts' || kind === 'reconciler')
    throw new UsageError('not for withdrawals: use payouts ask <reference> or payouts replay <reference>')
  const json = { applied: order.apply, kind, row }
  if (!order.apply) return { text: `${kind} ${row}: would be due now; ${applyHint}`, json }
  await db.transaction(async (trx) => {
    if (!(await makeRowDue(trx, kind, row))) throw new RefusedError(`${kind} has no work for ${row}`)
    await order.audit(trx, 'work retry', `${kind}:${row}`)
  })
  return { text: `${kind} ${row}: due now`, json }
}

async function run(values: Given, order: Order, [name, row, ...more]: readonly string[]): Promise<Outcome> {
  const verb = parseVerb(name, ['list', 'retry'])
  if (more.length > 0) throw new UsageError('give one row only')
  if ((verb === 'retry') !== (row !== undefined))
    throw new UsageError('give list without a row, or retry with one row; --help explains them')
  return withDatabase((db) => (row === undefined ? list(db, values) : retry(db, row, values, order)))
}

export const command = await defineCommand(import.meta, { usage, options, allowPositionals: true, run })
