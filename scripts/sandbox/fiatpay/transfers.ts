import { z } from 'zod'
import { json, lastSegment, parseJson, type SandboxAnswer, type SandboxRequest } from '../http-route.js'
import { transferFee } from './balance.js'
import { answerInMode, type Endpoint, ok, okPage } from './endpoint.js'
import type { TransferMode } from './faults.js'
import type { Fiatpay } from './fiatpay.js'
import { kobo, newestFirst, page, readInput } from './input.js'
import type { Transfer } from './records.js'
import { Refusal } from './refusal.js'
import { sentJson, transferJson } from './wire.js'

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

/** It has no code, as in the provider's documentation. */
const notFound = json(404, { status: false, message: 'Transfer not found' })

/** `POST /transfer`: executes a transfer, or misbehaves as the mode and the faults say. */
export const sendTransfer: Endpoint = (fiatpay, request) => {
  const reference = referenceOnly.safeParse(parseJson(request.body)).data?.reference ?? ''
  const mode = fiatpay.faults.transferModeFor(reference, fiatpay.sendings.add(reference))
  return answerInMode(mode, () => accept(fiatpay, request, mode))
}

/** `GET /transfer/verify/:reference`: the newest visible transfer with this reference. */
export const verifyTransfer: Endpoint = ({ transfers, recipients, faults, lookups }, request) => {
  const reference = lastSegment(request)
  const fault = faults.lookupFaultFor(reference, lookups.add(reference))
  if (fault === 'not-found') return notFound
  return answerInMode(fault, () => {
    const transfer = transfers.listByReference(reference).filter(isVisible).at(-1)
    if (transfer === undefined) return notFound
    const shown = transferJson(transfer, recipients.find(transfer.recipientCode))
    return ok('Transfer retrieved', { ...shown, ...faults.faultFor(reference).shows })
  })
}

/** `GET /transfer`: the visible transfers, newest first. */
export const listTransfers: Endpoint = ({ transfers, recipients }, request) => {
  const rows = transfers
    .all()
    .filter(isVisible)
    .map((transfer) => transferJson(transfer, recipients.find(transfer.recipientCode)))
  return okPage('Transfers retrieved', page(newestFirst(rows, request), request))
}

function isVisible({ visibleAt }: Transfer): boolean {
  return Date.parse(visibleAt) <= Date.now()
}

/**
 * Checks in the provider's order: recipient and balance first, the reference last. So a repeated transfer that was executed
 * can be refused for an empty balance.
 */
function accept(fiatpay: Fiatpay, request: SandboxRequest, mode: TransferMode): SandboxAnswer {
  const input = readInput(sending, request)
  const recipient = fiatpay.recipients.find(input.recipient)
  if (recipient === undefined) throw new Refusal('invalid_transfer_recipient')
  const feeKobo = fiatpay.faults.mode.fees === 'on' ? transferFee(input.amount) : 0
  if (mode === 'no-float' || input.amount + feeKobo > fiatpay.balanceKobo)
    throw new Refusal('insufficient_balance')
  if (mode === 'reject') throw new Refusal('transfer_rejected', fiatpay.faults.mode.rejectText)
  if (recipient.accountNumber === misnamedAccount)
    throw new Refusal('transfer_rejected', 'Account name mismatch')
  const again = fiatpay.transfers.listByReference(input.reference).length > 0
  if (again && fiatpay.faults.faultFor(input.reference).duplicates !== 'execute')
    throw new Refusal('duplicate_transfer_reference')
  const transfer = fiatpay.transfers.write(newTransfer(fiatpay, input, feeKobo, mode))
  fiatpay.transferExecuted(transfer)
  return ok('Transfer has been queued', sentJson(transfer, recipient))
}

function newTransfer(
  { faults, ids }: Fiatpay,
  { reference, recipient, amount, reason }: z.output<typeof sending>,
  feeKobo: number,
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
    feeKobo,
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
