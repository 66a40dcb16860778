import type { Knex } from 'knex'
import { listSuspense, resolveSuspense, type SuspenseItem, suspenseSums } from '../src/fiat/suspense.js'
import { displayText } from '../src/kernel/money.js'
import { loadDatabaseUrl } from '../src/platform/config.js'
import { createDb } from '../src/platform/db.js'
import { audit } from './ops/audit.js'
import { acting, actorOf, CannotDo, exitHelp, type Outcome, runCommand, UsageError } from './ops/command.js'

/** Shows naira that are nobody's yet (too little, too much, paid again), and notes what was returned. */
const help = `npm run ops -- suspense [--all] [--returned <payment> --note <text> [--apply]]

Lists payments that could not be credited, oldest first, at most 1,000. With --returned: notes that the money of one
went back to its payer, which somebody did at the provider before, and takes it out of the books; without --apply
nothing is changed.

  --all                  also those that are resolved
  --returned <payment>   the provider's id of the payment, as listed
  --note <text>          how, for those who ask later; such as the number of the refund
  --apply                do it
  --as <name>            in whose name, for the audit log; default: the user of the operating system
  --json                 answer as one line of JSON; amounts are kobo as decimal text
  --help

${exitHelp}`

const options = {
  ...acting,
  all: { type: 'boolean' },
  returned: { type: 'string' },
  note: { type: 'string' },
} as const

const most = 1000
const noteLength = 500

interface Given {
  readonly all?: boolean
  readonly returned?: string
  readonly note?: string
  readonly apply?: boolean
  readonly as?: string
}

async function list(db: Knex, all: boolean): Promise<Outcome> {
  const [items, sums] = await Promise.all([listSuspense(db, all, most), suspenseSums(db)])
  const ok = sums.items === sums.ledger
  const total = `NGN ${displayText(sums.items, 2)} wait; the ledger holds NGN ${displayText(sums.ledger, 2)}`
  return {
    ok,
    text: [...items.map(lineOf), ok ? total : `${total}: THEY DIFFER`].join('\n'),
    json: {
      items: items.map(({ kobo, ...item }) => ({ ...item, kobo: String(kobo) })),
      waiting: String(sums.items),
      ledger: String(sums.ledger),
    },
  }
}

function lineOf({ transaction, intentId, kobo, reason, paidAt, resolvedAt, note }: SuspenseItem): string {
  const state = resolvedAt === null ? 'waits' : `returned: ${note}`
  const amount = displayText(kobo, 2).padStart(14)
  return `${paidAt.toISOString()}  ${amount}  ${reason.padEnd(10)}  payment ${transaction}  ${intentId}  ${state}`
}

async function giveBack(db: Knex, transaction: string, { note, apply, as }: Given): Promise<Outcome> {
  if (!note?.trim() || note.length > noteLength) throw new UsageError('--note says how it was returned')
  const items = await listSuspense(db, false, most)
  const item = items.find((one) => one.transaction === transaction)
  if (item === undefined) throw new CannotDo(`payment ${transaction} does not wait in suspense`)
  const json = { applied: apply === true, transaction, kobo: String(item.kobo) }
  const told = `NGN ${displayText(item.kobo, 2)} of payment ${transaction}`
  if (apply !== true) return { text: `${told}: not noted; --apply does it`, json }
  await db.transaction(async (trx) => {
    const by = actorOf({ as })
    if ((await resolveSuspense(trx, transaction, by, note)) === undefined)
      throw new CannotDo(`payment ${transaction} was resolved meanwhile`)
    await audit(trx, {
      actor: by,
      action: 'suspense',
      subject: `payment:${transaction}`,
      details: { note, kobo: String(item.kobo) },
    })
  })
  return { text: `${told}: returned`, json }
}

async function run(values: Given): Promise<Outcome> {
  const db = createDb(loadDatabaseUrl(), 2)
  try {
    if (values.returned === undefined) return await list(db, values.all === true)
    return await giveBack(db, values.returned, values)
  } finally {
    await db.destroy()
  }
}

await runCommand({ help, options, run })
