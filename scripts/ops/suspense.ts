import type { Knex } from 'knex'
import {
  findSuspense,
  listSuspense,
  resolveSuspense,
  type SuspenseItem,
  type SuspenseResolution,
  sumSuspense,
  valueAssignment,
} from '../../src/fiat/suspense/suspense.js'
import { displayText } from '../../src/kernel/money.js'
import {
  actorOf,
  applyOptions,
  describeChange,
  exitHelp,
  type Outcome,
  RefusedError,
  reasonOption,
  requireReason,
  runCommand,
  UsageError,
  type Values,
} from './support/command.js'
import { recordAudit } from './support/record-audit.js'
import { withDatabase } from './support/with-database.js'

/** Shows naira that could not be credited; records that they were returned, or credits them to the creator. */
const help = `npm run ops -- suspense [--all] [--returned <payment> | --assign <payment>] [--reason <text>] [--apply]

Lists the payments that could not be credited (too little, too much, paid twice), oldest first, at most 1,000, and compares
their sum with the ledger: exit code 4 when the two differ. One payment can be resolved in one of two ways:

  --returned records that the payer has the money back. It sends nothing: refund the payment at the provider first.
  --assign credits the creator for whom the payment was meant, at the locked or the current rate, whichever gives less.
           The tip keeps its status; the money is a line of the creator's transactions.

Without --apply this changes nothing.

  --all                  also list resolved payments
  --returned <payment>   the payment's id at the provider, as listed
  --assign <payment>     the payment's id at the provider, as listed
  --reason <text>        why, for the audit log, such as the number of the refund; required with --returned and --assign
  --apply                do it
  --as <name>            your name for the audit log; default: the user of the operating system
  --json                 print one line of JSON; amounts are kobo and micro-USDC as decimal text
  --help                 print this text

${exitHelp}`

const options = {
  ...applyOptions,
  ...reasonOption,
  all: { type: 'boolean' },
  returned: { type: 'string' },
  assign: { type: 'string' },
} as const

const maxItems = 1000

type Given = Values<typeof options>

async function list(db: Knex, all: boolean): Promise<Outcome> {
  const [items, sums] = await Promise.all([listSuspense(db, all, maxItems), sumSuspense(db)])
  const ok = sums.items === sums.ledger
  const total = `waiting: NGN ${displayText(sums.items, 2)}; in the ledger: NGN ${displayText(sums.ledger, 2)}`
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
  const state = resolution === null ? 'waiting' : `${resolution}: ${note}`
  const amount = displayText(kobo, 2).padStart(14)
  return `${paidAt.toISOString()}  ${amount}  ${reason.padEnd(10)}  payment ${transaction}  ${intentId}  ${state}`
}

async function resolve(
  db: Knex,
  transaction: string,
  resolution: SuspenseResolution,
  apply: boolean,
): Promise<Outcome> {
  const item = await findSuspense(db, transaction)
  if (item === undefined) throw new RefusedError(`payment ${transaction} is not waiting in suspense`)
  const { text, json } =
    resolution.as === 'assigned' ? await planAssignment(db, item) : { text: '', json: {} }
  const line = `NGN ${displayText(item.kobo, 2)} of payment ${transaction}${text}`
  if (apply) await resolveAndAudit(db, item, resolution)
  return {
    text: describeChange(line, resolution.as, apply),
    json: { applied: apply, transaction, kobo: String(item.kobo), ...json },
  }
}

/** Which creator would get how much. */
async function planAssignment(db: Knex, item: SuspenseItem) {
  const { userId, creatorName, creditMicro } = await valueAssignment(db, item)
  return {
    text: `, worth ${displayText(creditMicro, 6)} USDC to ${creatorName} (${userId})`,
    json: { userId, creditMicro: String(creditMicro) },
  }
}

async function resolveAndAudit(
  db: Knex,
  { transaction, kobo }: SuspenseItem,
  resolution: SuspenseResolution,
): Promise<void> {
  await db.transaction(async (trx) => {
    if ((await resolveSuspense(trx, transaction, resolution)) === undefined)
      throw new RefusedError(`payment ${transaction} was resolved meanwhile`)
    await recordAudit(trx, {
      actor: resolution.by,
      action: 'suspense',
      subject: `payment:${transaction}`,
      details: { as: resolution.as, note: resolution.note, kobo: String(kobo) },
    })
  })
}

async function run(values: Given): Promise<Outcome> {
  const { returned, assign, all = false, apply = false } = values
  if (returned !== undefined && assign !== undefined)
    throw new UsageError('give --returned or --assign, not both')
  return withDatabase((db) => {
    const transaction = returned ?? assign
    if (transaction === undefined) return list(db, all)
    const as = returned === undefined ? 'assigned' : 'returned'
    return resolve(db, transaction, { as, by: actorOf(values), note: requireReason(values) }, apply)
  })
}

await runCommand({ help, options, run })
