import { createHash } from 'node:crypto'
import { z } from 'zod'
import { type Endpoint, naira, ok, okPage, Refusal, readInput, readQuery } from './api.js'
import { banks } from './banks.js'
import { recipientJson } from './wire.js'

/** An account number that exists at no bank. */
const unknownAccount = '0000000000'
const defaultName = 'SANDBOX ACCOUNT'
const nameMax = 100
const codeDigits = 15

const account = z.object({ account_number: z.string().regex(/^\d{10}$/), bank_code: z.string().max(20) })
const creation = account.extend({
  type: z.literal('nuban'),
  name: z.string().trim().min(1).max(nameMax),
  currency: naira,
})

/** The recipient code of a bank account. As at the provider, an account has a single recipient. */
function recipientCode({ bank_code, account_number }: z.output<typeof account>): string {
  const digest = createHash('sha256').update(`${bank_code}/${account_number}`).digest('hex')
  return `RCP_${digest.slice(0, codeDigits)}`
}

function checkBank({ bank_code }: z.output<typeof account>): void {
  if (!banks.has(bank_code)) throw new Refusal('invalid_params', `Unknown bank code: ${bank_code}`)
}

export const listBanks: Endpoint = (_, request) => {
  const common = { active: true, country: 'Nigeria', currency: 'NGN', type: 'nuban' }
  const rows = [...banks].map(([code, name], index) => ({ id: index + 1, name, code, ...common }))
  return okPage('Banks retrieved', rows, request)
}

/** `GET /bank/resolve?account_number=&bank_code=`: the account's name, which is the name of its last created recipient. */
export const resolveAccount: Endpoint = ({ recipients }, request) => {
  const query = readQuery(account, request)
  checkBank(query)
  if (query.account_number === unknownAccount) throw new Refusal('invalid_bank_code')
  const account_name = recipients.find(recipientCode(query))?.name ?? defaultName
  return ok('Account number resolved', { account_number: query.account_number, account_name })
}

/** `POST /transferrecipient`: creates a recipient. A known account keeps its recipient and gets the new name. */
export const createRecipient: Endpoint = ({ recipients, ids }, request) => {
  const input = readInput(creation, request)
  checkBank(input)
  const reference = recipientCode(input)
  const recipient = recipients.write({
    ...(recipients.find(reference) ?? { id: ids.next(), createdAt: new Date().toISOString() }),
    reference,
    name: input.name,
    bankCode: input.bank_code,
    accountNumber: input.account_number,
  })
  return ok('Transfer recipient created successfully', recipientJson(recipient), 201)
}
