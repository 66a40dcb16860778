import type { Knex } from 'knex'
import type { Composed } from '../../../src/compose.js'
import { listSuspense, sumSuspense, valueAssignment } from '../../../src/fiat/suspense/suspense.js'
import { nairaText, usdcText } from '../../../src/kernel/money.js'
import { tipChannel } from '../../../src/tips/read/present.js'
import { defineCommand, defineOptions, finalOptions, givenOption, type Outcome } from '../support/command.js'
import type { Order } from '../support/order.js'
import { act } from '../support/outgoing/outgoing.js'
import {
  findWaiting,
  listLive,
  paymentLine,
  payments,
  refuseLive,
  requireUndisputed,
  resolvePayment,
} from '../support/outgoing/payments.js'
import { withDatabase, withServices } from '../support/services.js'

const options = defineOptions(finalOptions, {
  '--all': 'also list resolved payments',
  '--refund <payment>': "the payment's id, as listed",
  '--returned <payment>': 'the same',
  '--assign <payment>': 'the same',
  '--reason <text>':
    'why, for the audit log, such as a ticket; required with --returned and --assign, and to refund',
  '--confirm <payment>': 'the payment once more; required to refund, because money leaves',
})

/** Shows naira that could not be credited; returns them to the payer, or credits them to the creator. */
const usage = `npm run ops -- suspense [--all]
npm run ops -- suspense --assign <payment> [--reason <text>] [--apply]
npm run ops -- suspense --refund <payment> [--apply --confirm <payment> --reason <text>]
npm run ops -- suspense --returned <payment> [--reason <text>] [--apply]

Lists the payments that could not be credited (too little, too much, paid twice), oldest first, at most 1,000, and compares
their sum with the ledger: exit code 4 while something waits, and when the two differ. One payment can be resolved in one of
three ways:

    --assign credits its creator, at the locked or the current rate, whichever gives less, and completes the tip.
  --refund, --returned: the same as outgoing act refund and outgoing act returned; npm run ops -- outgoing --help explains them.

Without --apply this changes nothing.`

const maxItems = 1000

async function list(db: Knex, all: boolean): Promise<Outcome> {
  const [items, sums] = await Promise.all([listSuspense(db, all, maxItems), sumSuspense(db)])
  const balanced = sums.items === sums.ledger
  const total = `waiting: ${nairaText(sums.items)}; in the ledger: ${nairaText(sums.ledger)}`
  return {
    ok: balanced && sums.items === 0n,
    text: [...items.map(paymentLine), balanced ? total : `${total}: THEY DIFFER`].join('\n'),
    json: { items, waiting: sums.items, ledger: sums.ledger },
  }
}

/** Credits the creator for whom it was meant, and shows the tip on the streams. */
async function assign(services: Composed, transaction: string, order: Order): Promise<Outcome> {
  const item = await findWaiting(services.db, transaction)
  requireUndisputed(item)
  const [live] = await listLive(services, item)
  refuseLive(item, live)
  const { kobo } = item
  const { intent, creditMicro } = await valueAssignment(services.db, item)
  const { userId, creatorName } = intent
  if (order.apply)
    await services.transact(async (uow) => {
      const { intentId } = await resolvePayment(uow, item, 'assigned', order)
      const row = await uow
        .trx('fiat_intents as f')
        .join('wallets as w', 'w.user_id', 'f.user_id')
        .where({ 'f.id': intentId })
        .first('w.public_key as wallet')
      if (row?.wallet) uow.publish(tipChannel(row.wallet))
    })
  const line = `${nairaText(kobo)} of payment ${transaction}, worth ${usdcText(creditMicro)} to ${creatorName} (${userId})`
  return {
    text: order.tell(line, 'assigned'),
    json: { applied: order.apply, transaction, kobo, userId, creditMicro },
  }
}

export const command = await defineCommand(import.meta, {
  usage,
  amounts: 'kobo and micro-USDC',
  options,
  async run(given, order) {
    const what = givenOption(given, ['refund', 'returned', 'assign'])
    if (what === undefined) return withDatabase((db) => list(db, given.all ?? false))
    const transaction = given[what] ?? ''
    if (what !== 'assign') return act(payments, what, [transaction], {}, order)
    order.reason()
    return withServices('ops suspense', (services) => assign(services, transaction, order))
  },
})
