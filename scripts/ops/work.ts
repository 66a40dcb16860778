import type { Knex } from 'knex'
import { listWork, makeDue, sumWork, type WorkRow, type WorkSum } from '../../src/operators/work-rows.js'
import { type WorkKind, workKinds } from '../../src/platform/queue/wake-ups.js'
import { audit } from './support/audit.js'
import {
  acting,
  actorOf,
  CannotDo,
  exitHelp,
  type Outcome,
  runCommand,
  UsageError,
  type Values,
  verbOf,
} from './support/command.js'
import { withDatabase } from './support/with-database.js'

/** Shows the rows workers have to do, and makes one due now that waits after an error. */
const help = `npm run ops -- work list --kind mailer
npm run ops -- work <verb> [<row>] [options]

  list                  without --kind how the work of each worker stands; with it its rows, failing ones first
  retry <row>           makes a row due now instead of when its pause is over; nothing is changed without --apply.
                        Withdrawals are not for it: payouts ask and payouts replay know when that is safe

  --kind <worker>       ${workKinds.join(', ')}
  --limit <n>           list: at most so many, 100 when left out
  --apply               do it
  --as <name>           in whose name, for the audit log; default: the user of the operating system
  --json                answer as one line of JSON
  --help

${exitHelp}`

const options = { ...acting, kind: { type: 'string' }, limit: { type: 'string' } } as const

type Given = Values<typeof options>

const limitMost = 10_000
const limitDefault = 100

function kindOf(kind: string | undefined): WorkKind {
  const found = workKinds.find((one) => one === kind)
  if (found === undefined) throw new UsageError(`--kind: one of ${workKinds.join(', ')}`)
  return found
}

async function list(db: Knex, { kind, limit = String(limitDefault) }: Given): Promise<Outcome> {
  if (kind === undefined) {
    const sums = await sumWork(db)
    return { text: sums.map(sumLine).join('\n'), json: { work: sums } }
  }
  const most = Number(limit)
  if (!Number.isInteger(most) || most < 1 || most > limitMost)
    throw new UsageError(`--limit: a whole number from 1 to ${limitMost}`)
  const rows = await listWork(db, kindOf(kind), most)
  return {
    text: rows.length === 0 ? 'no row has anything to do' : rows.map(rowLine).join('\n'),
    json: { rows },
  }
}

function sumLine({ kind, table, due, later, failing, oldestSeconds }: WorkSum): string {
  const oldest = oldestSeconds === null ? '' : `, the oldest for ${Math.round(oldestSeconds)} s`
  return `${kind.padEnd(12)} ${table.padEnd(13)} ${due} due${oldest}; ${failing} failing; ${later} later`
}

function rowLine({ id, dueAt, attempts, lastError }: WorkRow): string {
  return `${dueAt.toISOString()}  ${String(attempts).padStart(4)} attempts  ${id}  ${lastError ?? ''}`.trimEnd()
}

async function retry(db: Knex, row: string, given: Given): Promise<Outcome> {
  const kind = kindOf(given.kind)
  if (kind === 'payouts' || kind === 'reconciler')
    throw new UsageError('a withdrawal is asked about with payouts ask, and sent again with payouts replay')
  const json = { applied: given.apply === true, kind, row }
  if (given.apply !== true) return { text: `${kind} ${row}: would be due now; --apply does it`, json }
  await db.transaction(async (trx) => {
    if (!(await makeDue(trx, kind, row))) throw new CannotDo(`${kind} has nothing to do for ${row}`)
    await audit(trx, { actor: actorOf(given), action: 'work retry', subject: `${kind}:${row}`, details: {} })
  })
  return { text: `${kind} ${row}: due now`, json }
}

async function run(values: Given, [name, row, ...more]: readonly string[]): Promise<Outcome> {
  const verb = verbOf(name, ['list', 'retry'])
  if (more.length > 0) throw new UsageError('one row at a time')
  if ((verb === 'retry') !== (row !== undefined))
    throw new UsageError('list without a row, or retry with one; --help tells more')
  return withDatabase((db) => (row === undefined ? list(db, values) : retry(db, row, values)))
}

await runCommand({ help, options, words: true, run })
