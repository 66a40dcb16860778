import type { Knex } from 'knex'
import { type Composed, composeRefundReader } from '../../../src/compose.js'
import { listSuspenseRefunds } from '../../../src/fiat/provider-refunds.js'
import {
  listSuspense,
  type OpenItem,
  resolveSuspense,
  type SuspenseItem,
  type SuspenseResolution,
  sumSuspense,
  valueAssignment,
} from '../../../src/fiat/suspense/suspense.js'
import { nairaText, usdcText } from '../../../src/kernel/money.js'
import type { UnitOfWork } from '../../../src/platform/database/transact.js'
import { tipChannel } from '../../../src/tips/read/present.js'
import {
  actorOf,
  defineCommand,
  defineOptions,
  describeChange,
  finalOptions,
  givenOption,
  type Outcome,
  RefusedError,
  requireReason,
  type Values,
} from '../support/command.js'
import { recordAudit } from '../support/record-audit.js'
import { findWaiting, refundSuspense, requireUndisputed } from '../support/suspense-refund.js'
import { withDatabase } from '../support/with-database.js'
import { withServices } from '../support/with-services.js'

const options = defineOptions(finalOptions, {
  '--all': 'also list resolved payments',
  '--refund <payment>': "the payment's id at the provider, as listed",
  '--returned <payment>': 'the same',
  '--assign <payment>': 'the same',
  '--reason <text>':
    'why, for the audit log, such as a ticket; required with --returned and --assign, and to refund',
  '--confirm <payment>': 'the payment once more; required to refund, because money leaves',
})

/** Shows naira that could not be credited; returns them to the payer, or credits them to the creator. */
const usage = `npm run ops -- suspense [--all]
npm run ops -- suspense --refund <payment> [--apply --confirm <payment> --reason <text>]
npm run ops -- suspense [--returned <payment> | --assign <payment>] [--reason <text>] [--apply]

Lists the payments that could not be credited (too little, too much, paid twice), oldest first, at most 1,000, and compares
their sum with the ledger: exit code 4 while something waits, and when the two differ. One payment can be resolved in one of
three ways:

  --refund asks the provider to return the money to the payer. Nobody can assign it from then on. The books move when the
           provider shows it as returned; the payouts worker follows it to that end. Run it again when the provider is not
           done or gave no answer: it asks the provider's list of refunds before it sends anything again. What the provider
           refuses waits as before.
  --returned records that the payer has the money back in another way. It sends nothing, and refuses while a refund is or may
           be under way at the provider.
  --assign credits the creator for whom the payment was meant, at the locked or the current rate, whichever gives less. The
           tip is completed and shows what was credited.

Without --apply this changes nothing.`

const maxItems = 1000

type Given = Values<typeof options>

async function list(db: Knex, all: boolean): Promise<Outcome> {
  const [items, sums] = await Promise.all([listSuspense(db, all, maxItems), sumSuspense(db)])
  const balanced = sums.items === sums.ledger
  const ok = balanced && sums.items === 0n
  const total = `waiting: ${nairaText(sums.items)}; in the ledger: ${nairaText(sums.ledger)}`
  return {
    ok,
    text: [...items.map(lineOf), balanced ? total : `${total}: THEY DIFFER`].join('\n'),
    json: {
      items: items.map(({ kobo, ...item }) => ({ ...item, kobo: String(kobo) })),
      waiting: String(sums.items),
      ledger: String(sums.ledger),
    },
  }
}

function lineOf(item: SuspenseItem): string {
  const { transaction, intentId, kobo, reason, paidAt, resolution, note, refundAnswer } = item
  const answer = refundAnswer === null ? '' : `: ${refundAnswer}`
  const state = resolution === null ? `${item.state}${answer}` : `${resolution}: ${note}`
  const amount = nairaText(kobo).padStart(18)
  return `${paidAt.toISOString()}  ${amount}  ${reason.padEnd(10)}  payment ${transaction}  ${intentId}  ${state}`
}

async function resolve(
  services: Composed,
  transaction: string,
  resolution: SuspenseResolution,
  apply: boolean,
): Promise<Outcome> {
  const item = await findWaiting(services.db, transaction)
  if (resolution.as === 'assigned') requireUndisputed(item)
  await requireNoRefund(services, item, resolution.as)
  const { text, json } =
    resolution.as === 'assigned' ? await planAssignment(services.db, item) : { text: '', json: {} }
  const line = `${nairaText(item.kobo)} of payment ${transaction}${text}`
  if (apply) await resolveAndAudit(services, item, resolution)
  return {
    text: describeChange(line, resolution.as, apply),
    json: { applied: apply, transaction, kobo: String(item.kobo), ...json },
  }
}

/** Asks the provider, because the payer must not get the money twice, and not also the creator. */
async function requireNoRefund(
  { config }: Composed,
  item: OpenItem,
  as: SuspenseResolution['as'],
): Promise<void> {
  const { transaction, state } = item
  if (state === 'refunding')
    throw new RefusedError(
      `payment ${transaction} is being refunded; run --refund again to see how it stands. When the provider does not end it: ` +
        `npm run ops -- refunds --give-back ${item.refundId}, or --returned ${item.refundId}`,
    )
  const live = await listSuspenseRefunds(composeRefundReader(config), item)
  const open = as === 'assigned' ? live[0] : live.find((refund) => refund.state !== 'paid')
  if (open !== undefined)
    throw new RefusedError(
      `the provider shows the refund ${open.id} ${open.state} of payment ${transaction}; run --refund to follow it`,
    )
}

/** Which creator would get how much. */
async function planAssignment(db: Knex, item: SuspenseItem) {
  const { intent, creditMicro } = await valueAssignment(db, item)
  return {
    text: `, worth ${usdcText(creditMicro)} to ${intent.creatorName} (${intent.userId})`,
    json: { userId: intent.userId, creditMicro: String(creditMicro) },
  }
}

async function resolveAndAudit(
  { transact }: Composed,
  item: OpenItem,
  resolution: SuspenseResolution,
): Promise<void> {
  const { transaction, kobo } = item
  await transact(async (uow) => {
    const resolved = await resolveSuspense(uow.trx, item, resolution)
    if (resolved === undefined)
      throw new RefusedError(`payment ${transaction} was taken or resolved meanwhile`)
    const wallet = resolution.as === 'assigned' ? await walletOf(uow, resolved.item) : undefined
    if (wallet !== undefined) uow.publish(tipChannel(wallet))
    await recordAudit(uow.trx, {
      actor: resolution.by,
      action: 'suspense',
      subject: `payment:${transaction}`,
      details: { as: resolution.as, note: resolution.note, kobo: String(kobo) },
    })
  })
}

/** The wallet whose streams show the tip. */
async function walletOf({ trx }: UnitOfWork, { intentId }: SuspenseItem): Promise<string | undefined> {
  const row = await trx('fiat_intents as f')
    .join('wallets as w', 'w.user_id', 'f.user_id')
    .where({ 'f.id': intentId })
    .first('w.public_key as wallet')
  return row?.wallet ?? undefined
}

async function run(values: Given): Promise<Outcome> {
  const act = givenOption(values, ['refund', 'returned', 'assign'])
  if (act === undefined) return withDatabase((db) => list(db, values.all ?? false))
  const transaction = values[act] ?? ''
  if (act === 'refund')
    return withServices('ops suspense', (services) => refundSuspense(services, transaction, values))
  const as = act === 'assign' ? 'assigned' : 'returned'
  const resolution = { as, by: actorOf(values), note: requireReason(values) } as const
  return withServices('ops suspense', (services) =>
    resolve(services, transaction, resolution, values.apply ?? false),
  )
}

export const command = await defineCommand(import.meta, {
  usage,
  amounts: 'kobo and micro-USDC',
  options,
  run,
})
