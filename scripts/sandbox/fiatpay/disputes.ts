import { z } from 'zod'
import {
  innerSegment,
  json,
  lastSegment,
  RequestError,
  type Route,
  type SandboxRequest,
} from '../http-route.js'
import { type Endpoint, ok, okPage } from './endpoint.js'
import type { Fiatpay } from './fiatpay.js'
import { email, newestFirst, page, readInput } from './input.js'
import type { Dispute } from './records.js'
import { Refusal } from './refusal.js'

const textMax = 2000
const nameMax = 200
const fileBytesMax = 1024 * 1024
const filesMax = 10_000

const text = z.string('invalid_params').min(1, 'invalid_params').max(textMax, 'invalid_params')
const evidenceInput = z.object({
  customer_email: email,
  customer_name: text,
  customer_phone: text,
  service_details: text,
  delivery_address: text.optional(),
  delivery_date: text.optional(),
})
const resolution = z.object({
  resolution: z.enum(['merchant-accepted', 'declined'], 'invalid_params'),
  message: text,
  refund_amount: z.int('invalid_amount').nonnegative('invalid_amount'),
  uploaded_filename: z.string('invalid_params').min(1, 'invalid_params').max(nameMax, 'invalid_params'),
  evidence: z.int('invalid_params').positive('invalid_params').optional(),
})

/** `GET /dispute`: the disputes, newest first. The filter `transaction` selects those of one payment. */
export const listDisputes: Endpoint = (fiatpay, request) => {
  const transaction = request.url.searchParams.get('transaction')
  const rows = fiatpay.disputes
    .all()
    .filter((dispute) => transaction === null || String(dispute.transaction) === transaction)
    .map((dispute) => fiatpay.disputeJson(dispute))
  return okPage('Disputes retrieved', page(newestFirst(rows, request), request))
}

/** `GET /dispute/:id`. */
export const fetchDispute: Endpoint = (fiatpay, request) =>
  ok('Dispute retrieved', fiatpay.disputeJson(findDispute(fiatpay, lastSegment(request))))

/** `POST /dispute/:id/evidence`: stores evidence. The dispute still waits for an answer. */
export const addEvidence: Endpoint = (fiatpay, request) => {
  const dispute = openDispute(fiatpay, request)
  const input = readInput(evidenceInput, request)
  const evidence = fiatpay.ids.next()
  const createdAt = new Date().toISOString()
  fiatpay.disputes.write({ ...dispute, evidence, updatedAt: createdAt })
  return ok('Evidence created', {
    ...input,
    dispute: dispute.id,
    id: evidence,
    createdAt,
    updatedAt: createdAt,
  })
}

/** `GET /dispute/:id/upload_url`: a name for a file, and an address that takes it. */
export const nameFile: Endpoint = (fiatpay, request) => {
  const dispute = openDispute(fiatpay, request)
  const fileName = `${dispute.id}-${fiatpay.ids.next().toString(36)}`
  if (fiatpay.disputeFiles.size >= filesMax) fiatpay.disputeFiles.clear()
  fiatpay.disputeFiles.set(fileName, 'named')
  const { host = 'localhost' } = request.headers
  return ok('Upload url generated', { signedUrl: `http://${host}/fiatpay/uploads/${fileName}`, fileName })
}

/** `PUT /fiatpay/uploads/:name`: takes a file, without a secret key, as the storage behind a signed address does. */
export function storeFile({ disputeFiles }: Fiatpay): Route {
  return (request) => {
    const name = lastSegment(request)
    if (!disputeFiles.has(name)) throw new RequestError(403, 'the address is not signed')
    if (request.body.length === 0 || request.body.length > fileBytesMax)
      throw new RequestError(400, `a file of 1 to ${fileBytesMax} bytes`)
    disputeFiles.set(name, 'stored')
    return json(200, {})
  }
}

/** `PUT /dispute/:id/resolve`: the merchant's answer. */
export const resolveDispute: Endpoint = (fiatpay, request) => {
  const found = openDispute(fiatpay, request)
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
  return ok('Dispute successfully resolved', fiatpay.disputeJson(answered))
}

/** The dispute that the path names. It must wait for the merchant's answer. */
function openDispute(fiatpay: Fiatpay, request: SandboxRequest): Dispute {
  const dispute = findDispute(fiatpay, innerSegment(request))
  if (dispute.status !== 'awaiting-merchant-feedback') throw new Refusal('dispute_resolved')
  return dispute
}

function findDispute({ disputes }: Fiatpay, id: string): Dispute {
  const dispute = /^\d+$/.test(id) ? disputes.get(Number(id)) : undefined
  if (dispute === undefined) throw new Refusal('dispute_not_found')
  return dispute
}
