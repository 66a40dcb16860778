import { z } from 'zod'
import { cleanLine } from '../../kernel/text.js'
import type { Payouts } from '../../ports/payouts.js'
import { absentWhenNotFound, createFiatpayQuery } from './queries.js'
import { answer, type FiatpayAccess } from './requests.js'
import { transferAnswer, transferOf, transfersAnswer } from './transfer-answers.js'

/** Rows of one page of a list: the most the provider gives. */
const perPage = 100
/** More pages than transfers of a day ever fill: a provider that repeats a page must not keep us for ever. */
const pagesMost = 1000
const textLength = 200

const banksAnswer = answer(z.array(z.object({ code: z.string(), name: z.string().min(1) })))
const nameAnswer = answer(z.object({ account_name: z.string() }))

export interface FiatpayPayoutOptions extends FiatpayAccess {
  readonly deduplicates: boolean
  /** For each question. */
  readonly timeoutMs: number
}

/**
 * What is asked about payouts, in Paystack's wire format: `GET /transfer/verify/:reference`, `GET /transfer`, `GET /bank`
 * and `GET /bank/resolve`. It refuses a used reference (`duplicate_transfer_reference`), unless told that it does not.
 */
export function createFiatpayPayouts(options: FiatpayPayoutOptions): Payouts {
  const ask = createFiatpayQuery(options, options.timeoutMs)
  return {
    deduplicates: options.deduplicates,
    async find(reference) {
      const found = await ask(`/transfer/verify/${reference}`, transferAnswer).catch(absentWhenNotFound)
      return found && transferOf(found.data)
    },
    async *list(from, to) {
      for (let page = 1; page <= pagesMost; page++) {
        const query = new URLSearchParams({
          from: from.toISOString(),
          to: to.toISOString(),
          perPage: String(perPage),
          page: String(page),
        })
        const { data } = await ask(`/transfer?${query}`, transfersAnswer)
        yield data.map(transferOf)
        if (data.length < perPage) return
      }
    },
    async banks() {
      const { data } = await ask(`/bank?country=nigeria&perPage=${perPage}`, banksAnswer)
      return data
        .filter(({ code }) => /^\d{3}$/.test(code))
        .map(({ code, name }) => ({ code, name: cleanLine(name, textLength) }))
    },
    async resolveName({ bankCode, accountNumber }) {
      const query = new URLSearchParams({ account_number: accountNumber, bank_code: bankCode })
      const { data } = await ask(`/bank/resolve?${query}`, nameAnswer)
      return cleanLine(data.account_name, textLength)
    },
  }
}
