import type { Knex } from 'knex'
import { type Composed, composeRefundReader } from '../../../src/compose.js'
import { listRefundsOf } from '../../../src/fiat/provider-refunds.js'
import { attentionText, findRefund, listOpenRefunds, type Refund } from '../../../src/fiat/refunds/refund.js'
import { refundKind } from '../../../src/fiat/refunds/refund-kind.js'
import { decideAction, type RefundAction, resolveRefund } from '../../../src/fiat/refunds/resolve-refund.js'
import { nairaText, usdcText } from '../../../src/kernel/money.js'
import { ProviderError } from '../../../src/kernel/provider-error.js'
import { hasEnded } from '../../../src/outgoing/lifecycle.js'
import {
  actorOf,
  defineCommand,
  defineOptions,
  describeChange,
  finalOptions,
  givenOption,
  type Outcome,
  RefusedError,
  requireConfirmation,
  type Values,
} from '../support/command.js'
import { recordAudit } from '../support/record-audit.js'
import { withDatabase } from '../support/with-database.js'
import { withServices } from '../support/with-services.js'

const options = defineOptions(finalOptions, {
  '--retry <refund>': 'refund_ and 32 hex digits, as listed',
  '--give-back <refund>': 'the same',
  '--returned <refund>': 'the same',
  '--confirm <refund>': 'the refund once more; required with --apply, because money moves',
})

/** Shows the naira that go back to payers, and ends the refunds that no worker can. */
const usage = `npm run ops -- refunds
npm run ops -- refunds [--retry <refund> | --give-back <refund> | --returned <refund>] [--apply --confirm <refund> --reason <text>]

Lists the naira that are going back to payers, oldest first, at most 1,000: what creators give back, and what operators return
from suspense. Exit code 4 while one of them waits for a person. The payouts worker sends each once and follows it. One that it cannot end is ended in one of three ways, each of which asks
the provider first and is refused while a refund is or may be under way:

  --retry      sends it once more. Only when the provider shows no such refund, although it had time to.
  --give-back  gives the creator the money back; what was in suspense waits there again. Only when it was not sent, or the
               provider shows no such refund.
  --returned   records that the payer has the money back in another way. It sends nothing.

Without --apply this changes nothing.`

const maxRefunds = 1000
const done: Readonly<Record<RefundAction, string>> = {
  retry: 'sent once more',
  'give-back': 'given back to the creator',
  returned: 'recorded as returned',
}

type Given = Values<typeof options>

async function list(db: Knex): Promise<Outcome> {
  const refunds = await listOpenRefunds(db, maxRefunds)
  return {
    ok: !refunds.some(waitsForPerson),
    text: refunds.length === 0 ? 'no refund is under way' : refunds.map(lineOf).join('\n'),
    json: { refunds: refunds.map(jsonOf) },
  }
}

function waitsForPerson({ sendState, lastError }: Refund): boolean {
  return lastError !== null && (sendState !== 'sent' || lastError === attentionText)
}

function lineOf(refund: Refund): string {
  const { id, intentId, transaction, kobo, debitMicro, lastError, createdAt } = refund
  const error = lastError === null ? '' : `: ${lastError}`
  const amounts = `${nairaText(kobo)} for ${usdcText(debitMicro)}`
  return `${createdAt.toISOString()}  ${id}  ${amounts}  payment ${transaction}  ${intentId}  ${stateOf(refund)}${error}`
}

/** Its state in the words that scripts know. What may or may not have been sent is `sending` until the provider shows it. */
function stateOf({ status, sendState, lastError }: Refund): string {
  if (hasEnded(status)) return status === 'completed' ? 'paid' : 'failed'
  if (sendState === 'not_sent') return sendState
  if (sendState !== 'sent') return 'sending'
  return lastError === attentionText ? 'attention' : 'sent'
}

function jsonOf(refund: Refund) {
  const { id, intentId, transaction, kobo, debitMicro, lastError, createdAt } = refund
  return {
    id,
    intentId,
    transaction,
    kobo: String(kobo),
    debitMicro: String(debitMicro),
    state: stateOf(refund),
    lastError,
    createdAt,
  }
}

async function act(services: Composed, action: RefundAction, id: string, given: Given): Promise<Outcome> {
  const { apply = false } = given
  const note = apply ? requireConfirmation(`--${action}`, id, given) : ''
  const refund = await findRefund(services.db, id)
  if (refund === undefined) throw new RefusedError(`there is no refund ${id}`)
  const reader = composeRefundReader(services.config)
  const isNew = refund.sendState === 'not_sent' && !refund.looksUp
  const shown = isNew ? [] : await listRefundsOf(reader, refund)
  const kind = refundKind(services, reader)
  const step = decideAction(action, refund, shown, services.config.payouts.settleSeconds)
  if (step.kind === 'refuse') throw new RefusedError(`refund ${id}: ${step.reason}`)
  if (step.kind === 'wait')
    throw new ProviderError(
      'unavailable',
      `the request of ${id} may be on its way and the provider may still show it: run this again in ${step.seconds} s`,
    )
  if (apply)
    await services.transact(async (uow) => {
      if (!(await resolveRefund(uow, kind, refund, action)))
        throw new RefusedError(`refund ${id} has changed meanwhile`)
      await recordAudit(uow.trx, {
        actor: actorOf(given),
        action: `refund ${action}`,
        subject: `refund:${id}`,
        details: {
          note,
          state: stateOf(refund),
          kobo: String(refund.kobo),
          transaction: refund.transaction,
        },
      })
    })
  const change = `${nairaText(refund.kobo)} of refund ${id}`
  return {
    ok: true,
    text: describeChange(change, done[action], apply),
    json: { applied: apply, ...jsonOf(refund) },
  }
}

async function run(values: Given): Promise<Outcome> {
  const action = givenOption(values, ['retry', 'give-back', 'returned'])
  if (action === undefined) return withDatabase(list)
  return withServices('ops refunds', (services) => act(services, action, values[action] ?? '', values))
}

export const command = await defineCommand(import.meta, {
  usage,
  amounts: 'kobo and micro-USDC',
  options,
  run,
})
