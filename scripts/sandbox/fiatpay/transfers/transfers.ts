import { z } from 'zod'
import type { Mishap, SandboxAnswer, SandboxRequest } from '../../exchange.js'
import type { Tally } from '../../tally.js'
import type { Behaviour, TransferMode } from '../behaviour.js'
import type { Book } from '../book.js'
import { answered, type Endpoint, garbage, ok, serverError } from '../endpoint.js'
import type { Ids } from '../ids.js'
import type { Recipient, Transfer } from '../records.js'
import { Refusal } from '../refusal.js'
import { kobo, parsed, readInput } from '../schemas.js'
import { sentJson } from './transfer-json.js'

/** An account whose bank finds another name on it than the one sent. */
const misnamedAccount = '0000000001'
/** NGN 100 and NGN 10,000,000. */
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
const named = z.object({ reference: z.string().max(referenceMax) })

/** `instead`: nothing is done and this is the answer. `afterwards`: the answer, whatever was done. */
interface Treatment {
  readonly instead?: SandboxAnswer | Mishap
  readonly afterwards?: SandboxAnswer | Mishap
}

const treatments: Record<TransferMode, Treatment> = {
  auto: {},
  manual: {},
  reject: {},
  'no-float': {},
  'refuse-connection': { instead: 'reset' },
  timeout: { instead: 'silence' },
  '500': { instead: serverError },
  'accept-then-timeout': { afterwards: 'silence' },
  'accept-then-500': { afterwards: serverError },
  'accept-then-garbage': { afterwards: garbage },
  'accept-then-reset': { afterwards: 'reset' },
}

/** What sending a transfer needs. */
export interface Till {
  readonly transfers: Book<Transfer>
  readonly recipients: Book<Recipient>
  readonly behaviour: Behaviour
  readonly ids: Ids
  /** How often each reference was sent. */
  readonly sendings: Tally
  /** Told of every transfer once it is in the book. */
  readonly executed: (transfer: Transfer) => void
}

/** `POST /transfer`: sends money, or does whatever else the mode and the faults say. */
export function sendTransfer(till: Till): Endpoint {
  return (request) => {
    const reference = named.safeParse(parsed(request.body)).data?.reference ?? ''
    const mode = till.behaviour.sending(reference, till.sendings.add(reference))
    const { instead, afterwards } = treatments[mode]
    if (instead !== undefined) return instead
    const answer = answered(() => accept(till, request, mode), request)
    return afterwards ?? answer
  }
}

/**
 * In the provider's order: balance and recipient are checked first and the reference last, so a transfer that was
 * executed may be refused for an empty balance when it is sent again.
 */
function accept(till: Till, request: SandboxRequest, mode: TransferMode): SandboxAnswer {
  const input = readInput(sending, request)
  const recipient = till.recipients.find(input.recipient)
  if (recipient === undefined) throw new Refusal('invalid_transfer_recipient')
  if (mode === 'no-float') throw new Refusal('insufficient_balance')
  if (mode === 'reject') throw new Refusal('transfer_rejected', till.behaviour.rejectText)
  if (recipient.accountNumber === misnamedAccount)
    throw new Refusal('transfer_rejected', 'Account name mismatch')
  const again = till.transfers.under(input.reference).length > 0
  if (again && till.behaviour.fault(input.reference).duplicates !== 'execute')
    throw new Refusal('duplicate_transfer_reference')
  const transfer = till.transfers.write(newTransfer(till, input, mode))
  till.executed(transfer)
  return ok('Transfer has been queued', sentJson(transfer, recipient))
}

function newTransfer(
  { behaviour, ids }: Till,
  { reference, recipient, amount, reason }: z.output<typeof sending>,
  mode: TransferMode,
): Transfer {
  const id = ids.next()
  const { outcome, settleMs, lagMs } = behaviour.fate(reference)
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
