import { z } from 'zod'
import { isBankCode } from '../../kernel/ids.js'
import { ProviderError } from '../../kernel/provider-error.js'
import { cleanLine } from '../../kernel/text.js'
import type { Payouts, ProviderTransfer, TransferState } from '../../ports/payouts.js'
import {
  answer,
  createFiatpayQuery,
  type FiatpayAccess,
  parse,
  readPages,
  undefinedIfNotFound,
  wireKobo,
} from './requests.js'

/** Rows per page of the list of banks, the provider's maximum. */
const perPage = 100
/** More pages than the banks fill. Ends the loop if the provider repeats a page. */
const maxPages = 100
const textLength = 200

/** Paystack's statuses of a transfer. The last five are final, except that a paid transfer may come back later. */
const states: Readonly<Record<string, TransferState>> = {
  otp: 'accepted',
  received: 'accepted',
  pending: 'started',
  processing: 'started',
  success: 'paid',
  failed: 'failed',
  abandoned: 'failed',
  blocked: 'failed',
  rejected: 'failed',
  reversed: 'returned',
}

/** A row of `GET /transfer` and the data of `GET /transfer/verify/:reference`. Not every row names the fee. */
const transfer = z.object({
  amount: wireKobo.pipe(z.bigint().positive()),
  fee_charged: wireKobo.pipe(z.bigint().nonnegative()).nullish(),
  currency: z.string(),
  reference: z.string(),
  status: z.string(),
  transfer_code: z.string().min(1),
  gateway_response: z.string().nullish(),
  createdAt: z.string().nullish(),
  recipient: z.unknown().optional(),
})

/** Some answers name the recipient by its id only. */
const recipient = z.object({
  details: z.object({
    account_number: z.string().regex(/^\d{10}$/),
    bank_code: z.string().refine(isBankCode),
    account_name: z.string().nullish(),
  }),
  name: z.string().nullish(),
})

const transferAnswer = answer(transfer)
const balanceAnswer = answer(z.array(z.object({ currency: z.string(), balance: wireKobo })))
const banksAnswer = answer(z.array(z.object({ code: z.string(), name: z.string().min(1) })))
const nameAnswer = answer(z.object({ account_name: z.string() }))

/**
 * Queries about payouts in Paystack's wire format: `GET /transfer/verify/:reference`, `GET /transfer`, `GET /balance`,
 * `GET /bank` and `GET /bank/resolve`. Paystack refuses a used reference (`duplicate_transfer_reference`); the setting
 * FIATPAY_DEDUPLICATES can deny that.
 */
export function createFiatpayPayouts(options: FiatpayAccess & Pick<Payouts, 'deduplicates'>): Payouts {
  const query = createFiatpayQuery(options)
  return {
    deduplicates: options.deduplicates,
    async findTransfer(reference) {
      const found = await query(`/transfer/verify/${reference}`, transferAnswer).catch(undefinedIfNotFound)
      return found && transferOf(found.data)
    },
    async *listTransfers(from, to) {
      yield* readPages(query, '/transfer', (row) => transferOf(parse(transfer, row)), { from, to })
    },
    async readBalance() {
      const { data } = await query('/balance', balanceAnswer)
      const [naira, ...others] = data.filter(({ currency }) => currency === 'NGN')
      if (naira === undefined || others.length > 0)
        throw new ProviderError('ambiguous', 'fiatpay did not answer one balance in NGN')
      return naira.balance
    },
    async listBanks() {
      const names = new Map<string, string>()
      for (let page = 1; page <= maxPages; page++) {
        const params = new URLSearchParams({
          country: 'nigeria',
          perPage: String(perPage),
          page: String(page),
        })
        const { data } = await query(`/bank?${params}`, banksAnswer)
        const before = names.size
        for (const { code, name } of data)
          if (isBankCode(code) && !names.has(code)) names.set(code, cleanLine(name, textLength))
        // A provider that ignores the page repeats it.
        if (data.length < perPage || names.size === before) break
      }
      return [...names].map(([code, name]) => ({ code, name }))
    },
    async resolveAccountName({ bankCode, accountNumber }) {
      const params = new URLSearchParams({ account_number: accountNumber, bank_code: bankCode })
      const { data } = await query(`/bank/resolve?${params}`, nameAnswer)
      return cleanLine(data.account_name, textLength)
    },
  }
}

function payeeOf(wire: unknown): ProviderTransfer['payee'] {
  const found = recipient.safeParse(wire).data
  if (found === undefined) return undefined
  const { account_number: accountNumber, bank_code: bankCode, account_name: bankName } = found.details
  return { accountNumber, bankCode, accountName: cleanLine(found.name || bankName || '', textLength) }
}

/** Throws ProviderError for an undocumented status, which says nothing about the money. */
function transferOf(row: z.output<typeof transfer>): ProviderTransfer {
  const state = states[row.status]
  if (state === undefined)
    throw new ProviderError('ambiguous', `fiatpay knows a status ${cleanLine(row.status, 30)}`)
  const created = Date.parse(row.createdAt ?? '')
  const payee = payeeOf(row.recipient)
  return {
    id: row.transfer_code,
    reference: row.reference,
    amountKobo: row.amount,
    feeKobo: row.fee_charged ?? 0n,
    currency: row.currency,
    state,
    ...(Number.isNaN(created) ? {} : { createdAt: new Date(created) }),
    ...(payee === undefined ? {} : { payee }),
    reason: row.gateway_response ? cleanLine(row.gateway_response, textLength) : null,
  }
}
