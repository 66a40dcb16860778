import { z } from 'zod'
import { type Endpoint, ok } from '../endpoint.js'
import type { Ids, RecordStore } from '../record-store.js'
import type { Recipient } from '../records.js'
import { readInput } from '../schemas.js'
import { accountNumber, bankCode, bankName, recipientCode } from './banks.js'

const nameMax = 100

const creation = z.object({
  type: z.literal('nuban', 'invalid_params'),
  name: z.string('invalid_params').trim().min(1, 'invalid_params').max(nameMax, 'invalid_params'),
  account_number: accountNumber,
  bank_code: bankCode,
  currency: z.literal('NGN', 'invalid_params').default('NGN'),
})

/** `POST /transferrecipient`: creates a recipient. A known account keeps its recipient and gets the new name. */
export function createRecipient(recipients: RecordStore<Recipient>, ids: Ids): Endpoint {
  return (request) => {
    const input = readInput(creation, request)
    bankName(input.bank_code)
    const reference = recipientCode(input.bank_code, input.account_number)
    const recipient = recipients.write({
      ...(recipients.find(reference) ?? { id: ids.next(), createdAt: new Date().toISOString() }),
      reference,
      name: input.name,
      bankCode: input.bank_code,
      accountNumber: input.account_number,
    })
    return ok('Transfer recipient created successfully', recipientJson(recipient), 201)
  }
}

/** A recipient in the provider's format. */
export function recipientJson({ id, reference, name, bankCode, accountNumber, createdAt }: Recipient) {
  return {
    active: true,
    createdAt,
    currency: 'NGN',
    description: '',
    domain: 'test',
    email: null,
    id,
    integration: 100_043,
    metadata: null,
    name,
    recipient_code: reference,
    type: 'nuban',
    updatedAt: createdAt,
    is_deleted: false,
    isDeleted: false,
    details: {
      authorization_code: null,
      account_number: accountNumber,
      account_name: name,
      bank_code: bankCode,
      bank_name: bankName(bankCode),
    },
  }
}
