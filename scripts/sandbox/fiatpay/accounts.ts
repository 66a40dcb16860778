import { z } from 'zod'
import { bankName, banks, recipientCode } from './banks.js'
import { type Endpoint, ok, okPage } from './endpoint.js'
import { page, readInput } from './input.js'
import { Refusal } from './refusal.js'
import { recipientJson } from './wire.js'

/** An account number that exists at no bank. */
const unknownAccount = '0000000000'
const defaultName = 'SANDBOX ACCOUNT'
const nameMax = 100

const accountNumber = z.string('invalid_account_number').regex(/^\d{10}$/, 'invalid_account_number')
const bankCode = z.string('invalid_params').max(20, 'invalid_params')
const resolveQuery = z.object({ account_number: accountNumber, bank_code: bankCode })
const creation = z.object({
  type: z.literal('nuban', 'invalid_params'),
  name: z.string('invalid_params').trim().min(1, 'invalid_params').max(nameMax, 'invalid_params'),
  account_number: accountNumber,
  bank_code: bankCode,
  currency: z.literal('NGN', 'invalid_params').default('NGN'),
})

/** `GET /bank`: the banks, page by page. */
export const listBanks: Endpoint = (_, request) => okPage('Banks retrieved', page(bankRows(), request))

/** `GET /bank/resolve?account_number=&bank_code=`: the account's name, which is the name of its last created recipient. */
export const resolveAccount: Endpoint = ({ recipients }, { url }) => {
  const query = resolveQuery.safeParse(Object.fromEntries(url.searchParams))
  if (!query.success) {
    const account = query.error.issues.some(({ message }) => message === 'invalid_account_number')
    throw new Refusal(account ? 'invalid_account_number' : 'invalid_params')
  }
  const { account_number, bank_code } = query.data
  bankName(bank_code)
  if (account_number === unknownAccount) throw new Refusal('invalid_bank_code')
  const name = recipients.find(recipientCode(bank_code, account_number))?.name ?? defaultName
  return ok('Account number resolved', { account_number, account_name: name })
}

/** `POST /transferrecipient`: creates a recipient. A known account keeps its recipient and gets the new name. */
export const createRecipient: Endpoint = ({ recipients, ids }, request) => {
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

function bankRows() {
  return banks.map(([code, name], index) => ({
    id: index + 1,
    name,
    code,
    active: true,
    country: 'Nigeria',
    currency: 'NGN',
    type: 'nuban',
  }))
}
