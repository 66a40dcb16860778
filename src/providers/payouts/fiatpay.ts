import { z } from 'zod'
import { ProviderError } from '../../kernel/provider-error.js'
import { cleanLine } from '../../kernel/text.js'
import {
  answer,
  createFiatpayExchange,
  type FiatpayAccess,
  type Reply,
  refusal,
} from '../fiat/fiatpay-exchange.js'
import { transferAnswer, transferOf, transfersAnswer } from './fiatpay-transfers.js'
import type { Payouts } from './port.js'

/** Rows of one page of a list: the most the provider gives. */
const perPage = 100
/** More pages than transfers of a day ever fill: a provider that repeats a page must not keep us for ever. */
const pagesMost = 1000
const textLength = 200
/** Statuses that say what the question was worth; the provider's other 4xx are about us or about its load. */
const aboutTheQuestion = new Set([400, 404, 422])

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
  const exchange = createFiatpayExchange(options, options.timeoutMs)
  async function ask<Schema extends z.ZodType>(path: string, schema: Schema): Promise<z.output<Schema>> {
    const reply = await exchange(path)
    if (reply.status >= 400) throw failureOf(reply)
    const parsed = schema.safeParse(reply.body)
    if (!parsed.success) throw new ProviderError('ambiguous', 'fiatpay did not answer as documented')
    return parsed.data
  }
  return {
    deduplicates: options.deduplicates,
    async find(reference) {
      const found = await ask(`/transfer/verify/${reference}`, transferAnswer).catch(notFound)
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

/** Its 404 for an unknown transfer has no code, so the status alone says it. */
function notFound(error: unknown): undefined {
  if (error instanceof ProviderError && error.kind === 'rejected' && error.code === 404) return undefined
  throw error
}

function failureOf({ status, body }: Reply): ProviderError {
  const text = refusal.safeParse(body).data?.message
  if (aboutTheQuestion.has(status) && text !== undefined)
    return new ProviderError('rejected', cleanLine(text, textLength), status)
  return new ProviderError(status >= 500 ? 'ambiguous' : 'unavailable', `fiatpay answered ${status}`, status)
}
