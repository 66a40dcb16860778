import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { SandboxRequest } from '../../http-route.js'
import { type Endpoint, ok, okPage } from '../endpoint.js'
import { page } from '../paging.js'
import type { RecordStore } from '../record-store.js'
import type { Recipient } from '../records.js'
import { Refusal } from '../refusal.js'

/** Code and name of every bank the provider pays to. Most codes have three digits, those of newer banks more. */
const banks = [
  ['001', 'Test Bank'],
  ['011', 'First Bank of Nigeria'],
  ['023', 'Citibank Nigeria'],
  ['030', 'Heritage Bank'],
  ['032', 'Union Bank of Nigeria'],
  ['033', 'United Bank For Africa'],
  ['035', 'Wema Bank'],
  ['044', 'Access Bank'],
  ['050', 'Ecobank Nigeria'],
  ['057', 'Zenith Bank'],
  ['058', 'Guaranty Trust Bank'],
  ['063', 'Access Bank (Diamond)'],
  ['068', 'Standard Chartered Bank'],
  ['070', 'Fidelity Bank'],
  ['076', 'Polaris Bank'],
  ['082', 'Keystone Bank'],
  ['100', 'Suntrust Bank'],
  ['101', 'Providus Bank'],
  ['214', 'First City Monument Bank'],
  ['215', 'Unity Bank'],
  ['221', 'Stanbic IBTC Bank'],
  ['232', 'Sterling Bank'],
  ['301', 'Jaiz Bank'],
  ['50211', 'Kuda Bank'],
  ['50457', 'Infinity MFB'],
  ['50515', 'Moniepoint MFB'],
  ['999991', 'PalmPay'],
  ['999992', 'OPay Digital Services Limited (OPay)'],
] as const

const nameOfBank = new Map<string, string>(banks)
const listedAt = '2020-12-07T16:19:09.000Z'
/** An account number that exists at no bank. */
const unknownAccount = '0000000000'
const codeDigits = 15
const defaultName = 'SANDBOX ACCOUNT'

export const accountNumber = z.string('invalid_account_number').regex(/^\d{10}$/, 'invalid_account_number')
export const bankCode = z.string('invalid_params').max(20, 'invalid_params')

const resolveQuery = z.object({ account_number: accountNumber, bank_code: bankCode })

/** @throws Refusal for a bank the provider does not know */
export function bankName(code: string): string {
  const name = nameOfBank.get(code)
  if (name === undefined) throw new Refusal('invalid_params', `Unknown bank code: ${code.slice(0, 20)}`)
  return name
}

/** `GET /bank`: the banks, page by page. */
export const listBanks: Endpoint = (request) => okPage('Banks retrieved', page(bankRows(), request))

/** `GET /bank/resolve?account_number=&bank_code=`: the account's name, which is the name of its last created recipient. */
export function resolveAccount(recipients: RecordStore<Recipient>): Endpoint {
  return ({ url }: SandboxRequest) => {
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
}

/** The recipient code of a bank account. As at the provider, an account has a single recipient. */
export function recipientCode(bank: string, account: string): string {
  return `RCP_${createHash('sha256').update(`${bank}/${account}`).digest('hex').slice(0, codeDigits)}`
}

function bankRows() {
  return banks.map(([code, name], index) => ({
    name,
    slug: name.toLowerCase().replace(/[^a-z]+/g, '-'),
    code,
    longcode: '',
    gateway: null,
    pay_with_bank: false,
    active: true,
    is_deleted: false,
    country: 'Nigeria',
    currency: 'NGN',
    type: 'nuban',
    id: index + 1,
    createdAt: listedAt,
    updatedAt: listedAt,
  }))
}
