import type { Composed } from '../../../src/compose.js'
import { adoptCharge } from '../../../src/fiat/intents/adopt-charge.js'
import { makeIntentDue } from '../../../src/fiat/settlement/intent-queue.js'
import { isFiatIntentId } from '../../../src/kernel/ids.js'
import { nairaText } from '../../../src/kernel/money.js'
import {
  actorOf,
  defineCommand,
  defineOptions,
  describeChange,
  finalOptions,
  type Outcome,
  parseVerb,
  RefusedError,
  requireConfirmation,
  UsageError,
  type Values,
} from '../support/command.js'
import { findUser } from '../support/find-user.js'
import { recordAudit } from '../support/record-audit.js'
import { withServices } from '../support/with-services.js'

const options = defineOptions(finalOptions, {
  '--creator <id>': "the creator's id or e-mail, for a charge without a creator",
  '--confirm <reference>': 'the reference once more; required with --apply',
})

/** After a restore: credits naira payments whose intents the database has lost. */
const usage = `npm run ops -- restore collections adopt <reference> [--creator <id or e-mail>] [--apply --confirm <reference> --reason <text>]

The reference of the charge is in "restore-check" and on the provider's pages, such as fiatpay-3191d53c... . The charge names its creator;
for an older one without a name ask the payer or the creator. The intent is written again for what was paid, at the last accepted
exchange rate, and settlement credits it. For an intent that still exists settlement asks the provider again.`

type Given = Values<typeof options>

export async function adoptLostCharge(services: Composed, text: string, given: Given): Promise<Outcome> {
  const { db, collections } = services
  const { apply = false } = given
  const intentId = text.toLowerCase().replace('-', '_')
  if (!isFiatIntentId(intentId)) throw new UsageError(`${text} is not the reference of a naira tip`)
  const reference = intentId.replace('_', '-')
  const reason = apply ? requireConfirmation('adopt', text, given) : ''
  const isHere = (await db('fiat_intents').where({ id: intentId }).first('id')) !== undefined
  if (isHere) {
    if (apply) await makeIntentDue(services, reference)
    return {
      text: describeChange(`${reference} is here, and settlement asks the provider about it`, 'woken', apply),
      json: { applied: apply, reference },
    }
  }
  const charge = await collections.findCharge(reference)
  if (charge.status !== 'paid') throw new RefusedError(`the provider shows ${reference} ${charge.status}`)
  const { kobo, transaction, creatorId } = charge.newest
  if (creatorId === undefined && given.creator === undefined)
    throw new RefusedError(
      `${reference}, ${nairaText(kobo)}, names no creator: find whose it is, and say --creator <id or e-mail>`,
    )
  const { id: userId } = await findUser(db, given.creator ?? creatorId, '--creator')
  if (creatorId !== undefined && creatorId !== userId)
    throw new RefusedError(`${reference} names creator ${creatorId}`)
  if (apply)
    await adoptCharge(services, { intentId, userId, kobo }, (trx) =>
      recordAudit(trx, {
        actor: actorOf(given),
        action: 'collections adopt',
        subject: `intent:${intentId}`,
        details: { reason, userId, transaction, kobo: String(kobo) },
      }),
    )
  return {
    text: describeChange(`${reference}  ${nairaText(kobo)} for user ${userId}`, 'adopted', apply),
    json: { applied: apply, reference, userId, kobo: String(kobo) },
  }
}

export const command = await defineCommand(import.meta, {
  usage,
  options,
  allowPositionals: true,
  run(given, [name, reference, ...more]) {
    parseVerb(name, ['adopt'])
    if (reference === undefined || more.length > 0) throw new UsageError('give one reference')
    return withServices('ops collections', (services) => adoptLostCharge(services, reference, given))
  },
})
