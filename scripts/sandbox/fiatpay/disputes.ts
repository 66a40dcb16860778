import { z } from 'zod'
import { json, RequestError, type Route } from '../http-server.js'
import { type Endpoint, email, ok, okNewest, Refusal, readInput } from './api.js'
import type { Fiatpay } from './fiatpay.js'
import type { Dispute } from './records.js'
import { disputeJson } from './wire.js'

const textMax = 2000
const nameMax = 200
const fileBytesMax = 1024 * 1024
const filesMax = 10_000

const text = z.string().min(1).max(textMax)
const evidenceInput = z.object({
  customer_email: email,
  customer_name: text,
  customer_phone: text,
  service_details: text,
  delivery_address: text.optional(),
  delivery_date: text.optional(),
})
const resolution = z.object({
  resolution: z.enum(['merchant-accepted', 'declined']),
  message: text,
  refund_amount: z.int().nonnegative(),
  uploaded_filename: z.string().min(1).max(nameMax),
  evidence: z.int().positive().optional(),
})

/** `GET /dispute`: the disputes, newest first. The filter `transaction` selects those of one payment. */
export const listDisputes: Endpoint = (fiatpay, request) => {
  const transaction = request.url.searchParams.get('transaction')
  const rows = fiatpay.disputes
    .all()
    .filter((dispute) => transaction === null || String(dispute.transaction) === transaction)
    .map((dispute) => disputeJson(fiatpay, dispute))
  return okNewest('Disputes retrieved', rows, request)
}

export const fetchDispute: Endpoint = (fiatpay, { param }) =>
  ok('Dispute retrieved', disputeJson(fiatpay, findDispute(fiatpay, param)))

/** `POST /dispute/:id/evidence`: stores evidence. The dispute still waits for an answer. */
export const addEvidence: Endpoint = (fiatpay, request) => {
  const dispute = openDispute(fiatpay, request.param)
  const input = readInput(evidenceInput, request)
  const id = fiatpay.ids.next()
  const updatedAt = new Date().toISOString()
  fiatpay.disputes.write({ ...dispute, evidence: id, updatedAt })
  return ok('Evidence created', { ...input, dispute: dispute.id, id, createdAt: updatedAt, updatedAt })
}

/** `GET /dispute/:id/upload_url`: a name for a file, and an address that takes it. */
export const nameFile: Endpoint = (fiatpay, { param, headers: { host = 'localhost' } }) => {
  const dispute = openDispute(fiatpay, param)
  const fileName = `${dispute.id}-${fiatpay.ids.next().toString(36)}`
  if (fiatpay.disputeFiles.size >= filesMax) fiatpay.disputeFiles.clear()
  fiatpay.disputeFiles.set(fileName, 'named')
  return ok('Upload url generated', { signedUrl: `http://${host}/fiatpay/uploads/${fileName}`, fileName })
}

/** `PUT /fiatpay/uploads/:name`: takes a file, without a secret key, as the storage behind a signed address does. */
export function storeFile({ disputeFiles }: Fiatpay): Route {
  return ({ param: name, body }) => {
    if (!disputeFiles.has(name)) throw new RequestError(403, 'the address is not signed')
    if (body.length === 0 || body.length > fileBytesMax)
      throw new RequestError(400, `a file of 1 to ${fileBytesMax} bytes`)
    disputeFiles.set(name, 'stored')
    return json(200, {})
  }
}

/** `PUT /dispute/:id/resolve`: the merchant's answer. */
export const resolveDispute: Endpoint = (fiatpay, request) => {
  const found = openDispute(fiatpay, request.param)
  const input = readInput(resolution, request)
  if (fiatpay.disputeFiles.get(input.uploaded_filename) !== 'stored')
    throw new Refusal('invalid_params', 'The uploaded file was not found')
  if (input.refund_amount > found.amountKobo)
    throw new Refusal('invalid_params', 'Refund amount cannot be greater than initial amount')
  const accepts = input.resolution === 'merchant-accepted'
  if (accepts && input.refund_amount === 0) throw new Refusal('invalid_amount')
  const dispute = {
    ...found,
    message: input.message,
    fileName: input.uploaded_filename,
    shownKobo: input.refund_amount,
    evidence: input.evidence ?? found.evidence,
  }
  const answered = accepts
    ? fiatpay.loseDispute(dispute, 'merchant-accepted', input.refund_amount)
    : fiatpay.declineDispute(dispute)
  return ok('Dispute successfully resolved', disputeJson(fiatpay, answered))
}

/** The dispute with this id. It must wait for the merchant's answer. */
function openDispute(fiatpay: Fiatpay, id: string): Dispute {
  const dispute = findDispute(fiatpay, id)
  if (dispute.status !== 'awaiting-merchant-feedback') throw new Refusal('dispute_resolved')
  return dispute
}

function findDispute({ disputes }: Fiatpay, id: string): Dispute {
  const dispute = disputes.get(Number(id))
  if (dispute === undefined) throw new Refusal('dispute_not_found')
  return dispute
}
