import { z } from 'zod'
import type { Counter } from '../../counters.js'
import type { NoAnswer, SandboxAnswer, SandboxRequest } from '../../http-route.js'
import { transferFee } from '../balance.js'
import { answerOrRefusal, type Endpoint, garbage, ok, serverError } from '../endpoint.js'
import type { FiatpayFaults, TransferMode } from '../faults.js'
import type { Ids, RecordStore } from '../record-store.js'
import type { Recipient, Transfer } from '../records.js'
import { Refusal } from '../refusal.js'
import { kobo, parsed, readInput } from '../schemas.js'
import { sentJson } from './transfer-json.js'

/** A transfer to this account is rejected because of its name. */
const misnamedAccount = '0000000001'
/** The provider's limits: NGN 100 and NGN 10,000,000. */
const amountKoboMin = 10_000
const amountKoboMax = 1_000_000_000
const referenceMin = 16
const referenceMax = 50
const narrationMax = 200

const sending = z.object({
  source: z.literal('balance', 'invalid_params'),
  amount: kobo.pipe(z.int().min(amountKoboMin, 'invalid_amount').max(amountKoboMax, 'invalid_amount')),
  recipient: z.string('invalid_transfer_recipient').max(50, 'invalid_transfer_recipient'),
  reference: z
    .string('invalid_transfer_reference')
    .min(referenceMin, 'invalid_transfer_reference')
    .max(referenceMax, 'invalid_transfer_reference')
    .regex(/^[a-z0-9_-]+$/, 'invalid_transfer_reference'),
  reason: z.string().max(narrationMax, 'invalid_params').default(''),
  currency: z.literal('NGN', 'invalid_params').default('NGN'),
})
const referenceOnly = z.object({ reference: z.string().max(referenceMax) })

/** `instead`: the answer when nothing is executed. `afterwards`: the answer after the transfer was processed. */
interface FaultyAnswers {
  readonly instead?: SandboxAnswer | NoAnswer
  readonly afterwards?: SandboxAnswer | NoAnswer
}

const answersByMode: Record<TransferMode, FaultyAnswers> = {
  auto: {},
  manual: {},
  reject: {},
  'no-float': {},
  'refuse-connection': { instead: 'reset' },
  timeout: { instead: 'hang' },
  '500': { instead: serverError },
  'accept-then-timeout': { afterwards: 'hang' },
  'accept-then-500': { afterwards: serverError },
  'accept-then-garbage': { afterwards: garbage },
  'accept-then-reset': { afterwards: 'reset' },
}

/** What `POST /transfer` needs. */
export interface TransferContext {
  readonly transfers: RecordStore<Transfer>
  readonly recipients: RecordStore<Recipient>
  readonly faults: FiatpayFaults
  readonly ids: Ids
  /** How often each reference was sent. */
  readonly sendings: Counter
  readonly balanceKobo: number
  /** Called with every transfer after it is stored. */
  readonly transferExecuted: (transfer: Transfer) => void
}

/** `POST /transfer`: executes a transfer, or misbehaves as the mode and the faults say. */
export function sendTransfer(context: TransferContext): Endpoint {
  return (request) => {
    const reference = referenceOnly.safeParse(parsed(request.body)).data?.reference ?? ''
    const mode = context.faults.transferModeFor(reference, context.sendings.add(reference))
    const { instead, afterwards } = answersByMode[mode]
    if (instead !== undefined) return instead
    const answer = answerOrRefusal(() => accept(context, request, mode), request)
    return afterwards ?? answer
  }
}

/**
 * Checks in the provider's order: recipient and balance first, the reference last. So a repeated transfer that was executed
 * can be refused for an empty balance.
 */
function accept(context: TransferContext, request: SandboxRequest, mode: TransferMode): SandboxAnswer {
  const input = readInput(sending, request)
  const recipient = context.recipients.find(input.recipient)
  if (recipient === undefined) throw new Refusal('invalid_transfer_recipient')
  const feeKobo = context.faults.chargesFees ? transferFee(input.amount) : 0
  if (mode === 'no-float' || input.amount + feeKobo > context.balanceKobo)
    throw new Refusal('insufficient_balance')
  if (mode === 'reject') throw new Refusal('transfer_rejected', context.faults.rejectText)
  if (recipient.accountNumber === misnamedAccount)
    throw new Refusal('transfer_rejected', 'Account name mismatch')
  const again = context.transfers.listByReference(input.reference).length > 0
  if (again && context.faults.faultFor(input.reference).duplicates !== 'execute')
    throw new Refusal('duplicate_transfer_reference')
  const transfer = context.transfers.write({ ...newTransfer(context, input, mode), feeKobo })
  context.transferExecuted(transfer)
  return ok('Transfer has been queued', sentJson(transfer, recipient))
}

function newTransfer(
  { faults, ids }: TransferContext,
  { reference, recipient, amount, reason }: z.output<typeof sending>,
  mode: TransferMode,
): Transfer {
  const id = ids.next()
  const { outcome, settleMs, lagMs } = faults.plannedOutcome(reference)
  const executedAt = new Date().toISOString()
  return {
    id,
    code: `TRF_${id.toString(36)}`,
    reference,
    amountKobo: amount,
    recipientCode: recipient,
    narration: reason,
    executedAt,
    visibleAt: after(executedAt, lagMs),
    settles: mode === 'manual' ? null : { at: after(executedAt, settleMs), outcome },
    status: 'pending',
    updatedAt: executedAt,
    failure: null,
  }
}

function after(moment: string, ms: number): string {
  return new Date(Date.parse(moment) + ms).toISOString()
}
