import type { Composed } from '../../../src/compose.js'
import { adoptCharge } from '../../../src/fiat/intents/adopt-charge.js'
import { makeIntentDue } from '../../../src/fiat/settlement/intent-queue.js'
import { isFiatIntentId } from '../../../src/kernel/ids.js'
import { nairaText } from '../../../src/kernel/money.js'
import { defineCommand, defineOptions, finalOptions, type Outcome, parseVerb } from '../support/command.js'
import { type Order, RefusedError, UsageError } from '../support/order.js'
import { findUser, withServices } from '../support/services.js'

const options = defineOptions(finalOptions, {
  '--creator <id>': "the creator's id or e-mail, for a charge without a creator",
  '--confirm <reference>': 'the reference once more; required with --apply',
})

/** After a restore: credits naira payments whose intents the database has lost. */
const usage = `npm run ops -- restore collections adopt <reference> [--creator <id or e-mail>] [--apply --confirm <reference> --reason <text>]

The reference of the charge is in "restore-check" and on the provider's pages, such as fiatpay-3191d53c... . The charge names its creator;
for an older one without a name ask the payer or the creator. The intent is written again for what was paid, at the last accepted
exchange rate, and settlement credits it. For an intent that still exists settlement asks the provider again.`

export async function adoptLostCharge(
  services: Composed,
  text: string,
  order: Order,
  creator?: string,
): Promise<Outcome> {
  const { db, collections } = services
  const { apply } = order
  const intentId = text.toLowerCase().replace('-', '_')
  if (!isFiatIntentId(intentId)) throw new UsageError(`${text} is not the reference of a naira tip`)
  const reference = intentId.replace('_', '-')
  order.confirmed('adopt', text)
  const isHere = (await db('fiat_intents').where({ id: intentId }).first('id')) !== undefined
  if (isHere) {
    if (apply) await makeIntentDue(services, reference)
    return {
      text: order.tell(`${reference} is here, and settlement asks the provider about it`, 'woken'),
      json: { applied: apply, reference },
    }
  }
  const charge = await collections.findCharge(reference)
  if (charge.status !== 'paid') throw new RefusedError(`the provider shows ${reference} ${charge.status}`)
  const { kobo, transaction, creatorId } = charge.newest
  if (creatorId === undefined && creator === undefined)
    throw new RefusedError(
      `${reference}, ${nairaText(kobo)}, names no creator: find whose it is, and say --creator <id or e-mail>`,
    )
  const { id: userId } = await findUser(db, creator ?? creatorId, '--creator')
  if (creatorId !== undefined && creatorId !== userId)
    throw new RefusedError(`${reference} names creator ${creatorId}`)
  if (apply)
    await adoptCharge(services, { intentId, userId, kobo }, (trx) =>
      order.audit(trx, 'collections adopt', `intent:${intentId}`, { userId, transaction, kobo }),
    )
  return {
    text: order.tell(`${reference}  ${nairaText(kobo)} for user ${userId}`, 'adopted'),
    json: { applied: apply, reference, userId, kobo },
  }
}

export const command = await defineCommand(import.meta, {
  usage,
  options,
  allowPositionals: true,
  run({ creator }, order, [name, reference, ...more]) {
    parseVerb(name, ['adopt'])
    if (reference === undefined || more.length > 0) throw new UsageError('give one reference')
    return withServices('ops collections', (services) => adoptLostCharge(services, reference, order, creator))
  },
})
