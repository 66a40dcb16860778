import { createHmac, timingSafeEqual } from 'node:crypto'
import { z } from 'zod'
import { ProviderError } from '../../kernel/provider-error.js'
import type { ChargeRequest, ChargeState, Collections, Payment } from '../../ports/collections.js'
import { chargeAnswer, initializeAnswer, listAnswer, verifyAnswer } from './collection-answers.js'
import { absentWhenNotFound, createFiatpayQuery } from './queries.js'
import type { FiatpayAccess } from './requests.js'

const timeoutMs = 10_000
/** Of one charge; more payments than this nobody makes by mistake. */
const mostPayments = 50

export interface FiatpayOptions extends FiatpayAccess {
  /** Where the provider sends payers back to from its own page; it adds its reference to the query. */
  readonly returnUrl: string
}

/**
 * Collection in Paystack's wire format: `POST /transaction/initialize`, `POST /charge` (pay with transfer),
 * `GET /transaction/verify/:reference`, `GET /transaction`, and webhooks signed with HMAC-SHA512 over their raw bytes.
 * Amounts are whole kobo on the wire as well.
 */
export function createFiatpay({ returnUrl, ...access }: FiatpayOptions): Collections {
  const { secretKey } = access
  const ask = createFiatpayQuery(access, timeoutMs)
  return {
    async openCheckout(charge) {
      const wanted = { ...wireCharge(charge), callback_url: returnUrl }
      const { data } = await ask('/transaction/initialize', initializeAnswer, wanted)
      return data.authorization_url
    },
    async openTransferAccount(charge, expiresAt) {
      const bank_transfer = { account_expires_at: expiresAt.toISOString() }
      const { data } = await ask('/charge', chargeAnswer, { ...wireCharge(charge), bank_transfer })
      const { bank, account_number: accountNumber, account_name: accountName } = data
      return { bankName: bank.name, accountNumber, accountName }
    },
    async lookUp(reference) {
      // The provider forgets, or never knew, what nobody began to pay.
      const verified = await ask(`/transaction/verify/${reference}`, verifyAnswer).catch(absentWhenNotFound)
      return verified === undefined ? { status: 'unpaid' } : stateOf(reference, verified.data)
    },
    async payments(reference) {
      const { data } = await ask(`/transaction?reference=${reference}&perPage=${mostPayments}`, listAnswer)
      const paid = data.filter((row) => row.reference === reference && row.status === 'success')
      return paid
        .toSorted((a, b) => a.id - b.id)
        .map(paymentOf)
        .toSorted(byTime)
    },
    readWebhook(raw, header) {
      const expected = createHmac('sha512', secretKey).update(raw).digest()
      const given = Buffer.from(header('x-paystack-signature'), 'hex')
      if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined
      return referenceIn(raw)
    },
  }
}

function wireCharge({ reference, amountKobo, email }: ChargeRequest) {
  return { email, amount: String(amountKobo), currency: 'NGN', reference }
}

type Row = z.output<typeof verifyAnswer>['data']

function stateOf(reference: string, row: Row): ChargeState {
  if (row.reference !== reference)
    throw new ProviderError('ambiguous', 'fiatpay answered about another reference')
  if (row.status === 'success') return { status: 'paid', newest: paymentOf(row) }
  return { status: row.status === 'failed' ? 'failed' : 'unpaid' }
}

function paymentOf({ id, amount, currency, paid_at: paidAt }: Row): Payment {
  if (currency !== 'NGN') throw new ProviderError('ambiguous', 'fiatpay names another currency')
  if (paidAt === null) throw new ProviderError('ambiguous', 'fiatpay names no time of payment')
  return { transaction: String(id), kobo: BigInt(amount), paidAt: new Date(paidAt) }
}

/** Within one millisecond the order stays that of the provider's ids, which grow. */
function byTime(a: Payment, b: Payment): number {
  return a.paidAt.getTime() - b.paidAt.getTime()
}

const event = z.object({ data: z.object({ reference: z.string() }) })

function referenceIn(raw: Uint8Array): string | null {
  try {
    return event.safeParse(JSON.parse(Buffer.from(raw).toString('utf8'))).data?.data.reference ?? null
  } catch {
    return null
  }
}
