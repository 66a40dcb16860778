import { z } from 'zod'
import { json, parseJson, type SandboxAnswer, type SandboxRequest } from '../http-server.js'
import { answerInMode, type Endpoint, kobo, naira, ok, okNewest, Refusal, readInput } from './api.js'
import { transferFee } from './balance.js'
import type { TransferMode } from './faults.js'
import type { Fiatpay } from './fiatpay.js'
import type { Transfer } from './records.js'
import { sentJson, transferJson } from './wire.js'

/** A transfer to this account is rejected because of its name. */
const misnamedAccount = '0000000001'
/** The provider's limits: NGN 100 and NGN 10,000,000. */
const amountKoboMin = 10_000
const amountKoboMax = 1_000_000_000
const narrationMax = 200
const wrongReference = 'invalid_transfer_reference'

const sending = z.object({
  source: z.literal('balance'),
  amount: kobo.pipe(z.int().min(amountKoboMin).max(amountKoboMax)),
  recipient: z.string().max(50),
  reference: z.string(wrongReference).regex(/^[a-z0-9_-]{16,50}$/, wrongReference),
  reason: z.string().max(narrationMax).default(''),
  currency: naira,
})
const referenceOnly = z.object({ reference: z.string() })

/** It has no code, as in the provider's documentation. */
const notFound = json(404, { status: false, message: 'Transfer not found' })

/** `POST /transfer`: executes a transfer, or misbehaves as the mode and the faults say. */
export const sendTransfer: Endpoint = (fiatpay, request) => {
  const reference = referenceOnly.safeParse(parseJson(request.body)).data?.reference ?? ''
  const mode = fiatpay.faults.transferModeFor(reference, fiatpay.sendings.add(reference))
  return answerInMode(mode, () => accept(fiatpay, request, mode))
}

/** `GET /transfer/verify/:reference`: the newest visible transfer with this reference. */
export const verifyTransfer: Endpoint = (
  { transfers, recipients, faults, lookups },
  { param: reference },
) => {
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
  return okNewest('Transfers retrieved', rows, request)
}

function isVisible({ visibleAt }: Transfer): boolean {
  return Date.parse(visibleAt) <= Date.now()
}

/**
 * Checks in the provider's order: recipient and balance first, the reference last. So a repeated transfer that was executed
 * can be refused for an empty balance.
 */
function accept(fiatpay: Fiatpay, request: SandboxRequest, mode: TransferMode): SandboxAnswer {
  const { faults, transfers, ids } = fiatpay
  const { amount, reference, recipient: code, reason } = readInput(sending, request)
  const recipient = fiatpay.recipients.find(code)
  if (recipient === undefined) throw new Refusal('invalid_transfer_recipient')
  const feeKobo = faults.mode.fees === 'on' ? transferFee(amount) : 0
  if (mode === 'no-float' || amount + feeKobo > fiatpay.balanceKobo) throw new Refusal('insufficient_balance')
  if (mode === 'reject') throw new Refusal('transfer_rejected', faults.mode.rejectText)
  if (recipient.accountNumber === misnamedAccount)
    throw new Refusal('transfer_rejected', 'Account name mismatch')
  const again = transfers.listByReference(reference).length > 0
  if (again && faults.faultFor(reference).duplicates !== 'execute')
    throw new Refusal('duplicate_transfer_reference')
  const id = ids.next()
  const now = Date.now()
  const after = (ms: number) => new Date(now + ms).toISOString()
  const { outcome, settleMs, lagMs } = faults.plannedOutcome(reference)
  const transfer = transfers.write({
    id,
    code: `TRF_${id.toString(36)}`,
    reference,
    amountKobo: amount,
    feeKobo,
    recipientCode: code,
    narration: reason,
    executedAt: after(0),
    visibleAt: after(lagMs),
    settles: mode === 'manual' ? null : { at: after(settleMs), outcome },
    status: 'pending',
    updatedAt: after(0),
    failure: null,
  })
  fiatpay.transferExecuted(transfer)
  return ok('Transfer has been queued', sentJson(transfer, recipient))
}
