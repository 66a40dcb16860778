import type { Knex } from 'knex'
import {
  assignmentOf,
  findSuspense,
  listSuspense,
  type Resolution,
  resolveSuspense,
  type SuspenseItem,
  suspenseSums,
} from '../../src/fiat/suspense/suspense.js'
import { displayText } from '../../src/kernel/money.js'
import { audit } from './support/audit.js'
import {
  acting,
  actorOf,
  CannotDo,
  concluded,
  exitHelp,
  type Outcome,
  reasonOf,
  reasonOption,
  runCommand,
  UsageError,
  type Values,
} from './support/command.js'
import { withDatabase } from './support/with-database.js'

/** Shows naira that are nobody's yet (too little, too much, paid again); notes what was returned, credits what is the creator's. */
const help = `npm run ops -- suspense [--all] [--returned <payment> | --assign <payment>] [--reason <text>] [--apply]

Lists payments that could not be credited, oldest first, at most 1,000. One of them can be resolved: --returned notes
that its money went back to its payer, which somebody did at the provider before; --assign gives its worth to the
creator it was meant for, at the locked or the current rate, whichever gives less. Without --apply nothing is changed.

  --all                  also those that are resolved
  --returned <payment>   the provider's id of the payment, as listed
  --assign <payment>     the same; the tip itself stays as it is, the money is a line of the creator's transactions
  --reason <text>        why, for those who ask later, such as the number of the refund; wanted with either
  --apply                do it
  --as <name>            in whose name, for the audit log; default: the user of the operating system
  --json                 answer as one line of JSON; amounts are kobo and micro-USDC as decimal text
  --help

${exitHelp}`

const options = {
  ...acting,
  ...reasonOption,
  all: { type: 'boolean' },
  returned: { type: 'string' },
  assign: { type: 'string' },
} as const

const most = 1000

type Given = Values<typeof options>

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

function lineOf({ transaction, intentId, kobo, reason, paidAt, resolution, note }: SuspenseItem): string {
  const state = resolution === null ? 'waits' : `${resolution}: ${note}`
  const amount = displayText(kobo, 2).padStart(14)
  return `${paidAt.toISOString()}  ${amount}  ${reason.padEnd(10)}  payment ${transaction}  ${intentId}  ${state}`
}

async function resolve(
  db: Knex,
  transaction: string,
  resolution: Resolution,
  apply: boolean,
): Promise<Outcome> {
  const item = await findSuspense(db, transaction)
  if (item === undefined) throw new CannotDo(`payment ${transaction} does not wait in suspense`)
  const { told, json } = resolution.as === 'assigned' ? await assigned(db, item) : { told: '', json: {} }
  const text = `NGN ${displayText(item.kobo, 2)} of payment ${transaction}${told}`
  if (apply) await resolveAudited(db, item, resolution)
  return {
    text: concluded(text, resolution.as, apply),
    json: { applied: apply, transaction, kobo: String(item.kobo), ...json },
  }
}

async function assigned(db: Knex, item: SuspenseItem) {
  const { userId, creatorName, creditMicro } = await assignmentOf(db, item)
  return {
    told: `, worth ${displayText(creditMicro, 6)} USDC to ${creatorName} (${userId})`,
    json: { userId, creditMicro: String(creditMicro) },
  }
}

async function resolveAudited(
  db: Knex,
  { transaction, kobo }: SuspenseItem,
  resolution: Resolution,
): Promise<void> {
  await db.transaction(async (trx) => {
    if ((await resolveSuspense(trx, transaction, resolution)) === undefined)
      throw new CannotDo(`payment ${transaction} was resolved meanwhile`)
    await audit(trx, {
      actor: resolution.by,
      action: 'suspense',
      subject: `payment:${transaction}`,
      details: { as: resolution.as, note: resolution.note, kobo: String(kobo) },
    })
  })
}

async function run(values: Given): Promise<Outcome> {
  const { returned, assign, all = false, apply = false } = values
  if (returned !== undefined && assign !== undefined) throw new UsageError('--returned or --assign, not both')
  return withDatabase((db) => {
    const transaction = returned ?? assign
    if (transaction === undefined) return list(db, all)
    const as = returned === undefined ? 'assigned' : 'returned'
    return resolve(db, transaction, { as, by: actorOf(values), note: reasonOf(values) }, apply)
  })
}

await runCommand({ help, options, run })
