import { createHmac, timingSafeEqual } from 'node:crypto'
import { z } from 'zod'
import { ProviderError } from '../../kernel/provider-error.js'
import type {
  ChargeRequest,
  ChargeState,
  Collections,
  ListedPayment,
  Payment,
} from '../../ports/collections.js'
import {
  answer,
  createFiatpayQuery,
  type FiatpayAccess,
  parse,
  readPages,
  undefinedIfNotFound,
  wireKobo,
} from './requests.js'

const timeoutMs = 10_000
/** Payments read per charge. A charge is normally paid once, and rarely twice by mistake. */
const maxPayments = 50

const initializeAnswer = answer(z.object({ authorization_url: z.url() }))

const chargeAnswer = answer(
  z.object({
    status: z.literal('pending_bank_transfer'),
    account_name: z.string(),
    account_number: z.string(),
    bank: z.object({ name: z.string() }),
  }),
)

/** Paystack's transaction: one payment of a charge. `amount`: kobo. */
const transaction = z.object({
  id: z.int().positive(),
  status: z.string(),
  reference: z.string(),
  amount: wireKobo.pipe(z.bigint().positive()),
  fees: wireKobo.pipe(z.bigint().nonnegative()).nullish(),
  currency: z.string(),
  paid_at: z.iso.datetime({ offset: true }).nullable(),
  channel: z.string().nullish(),
  // Ours comes back as an object or as its JSON; of other charges it may be anything.
  metadata: z.unknown().optional(),
})
type Transaction = z.output<typeof transaction>

const verifyAnswer = answer(transaction)
const listAnswer = answer(z.array(transaction))

/** The characters that the provider takes. Anything else names no row, and PostgreSQL cannot hold all of it. */
const namedReference = z.string().regex(/^[\w.=-]{1,200}$/)

/** A webhook about a refund or a dispute names its charge in another field. */
const webhookEvent = z.object({
  data: z.union([
    z.object({ transaction_reference: namedReference }).transform((data) => data.transaction_reference),
    z
      .object({ transaction: z.object({ reference: namedReference }) })
      .transform(({ transaction }) => transaction.reference),
    z.object({ reference: namedReference }).transform(({ reference }) => reference),
  ]),
})

export interface FiatpayOptions extends Omit<FiatpayAccess, 'timeoutMs'> {
  /** The page that the provider's checkout returns payers to, with its reference in the query. */
  readonly returnUrl: string
  /** Keys whose signatures of webhooks count; default: the secret key alone. */
  readonly webhookKeys?: readonly string[] | undefined
}

/**
 * Collection in Paystack's wire format: `POST /transaction/initialize`, `POST /charge` (pay with transfer),
 * `GET /transaction/verify/:reference`, `GET /transaction`, and webhooks signed with HMAC-SHA512 over their raw bytes.
 * Amounts are whole kobo.
 */
export function createFiatpayCollections({ returnUrl, ...access }: FiatpayOptions): Collections {
  const { secretKey, webhookKeys = [secretKey] } = access
  const query = createFiatpayQuery({ ...access, timeoutMs })
  return {
    async openCheckout(charge) {
      const body = { ...wireCharge(charge), callback_url: returnUrl }
      const { data } = await query('/transaction/initialize', initializeAnswer, body)
      return data.authorization_url
    },
    async openTransferAccount(charge, expiresAt) {
      const bank_transfer = { account_expires_at: expiresAt.toISOString() }
      const { data } = await query('/charge', chargeAnswer, { ...wireCharge(charge), bank_transfer })
      const { bank, account_number: accountNumber, account_name: accountName } = data
      return { bankName: bank.name, accountNumber, accountName }
    },
    async findCharge(reference) {
      // The provider has no record of a charge before its payer begins to pay.
      const verified = await query(`/transaction/verify/${reference}`, verifyAnswer).catch(
        undefinedIfNotFound,
      )
      return verified === undefined ? { status: 'unpaid' } : stateOf(reference, verified.data)
    },
    async listPayments(reference) {
      const { data } = await query(`/transaction?reference=${reference}&perPage=${maxPayments}`, listAnswer)
      return data
        .filter((row) => row.reference === reference && isPayment(row))
        .toSorted((a, b) => a.id - b.id)
        .map(paymentOf)
        .toSorted(byTime)
    },
    async *listAllPayments(from, to) {
      for await (const rows of readPages(query, '/transaction', readPayment, { from, to })) yield rows.flat()
    },
    async *listReversedPayments(from, to) {
      const filter = { from, to, status: 'reversed' }
      for await (const rows of readPages(query, '/transaction', readPayment, filter))
        yield rows.flat().filter(({ reversed }) => reversed)
    },
    readWebhook(raw, header) {
      const given = Buffer.from(header('x-paystack-signature'), 'hex')
      const known = webhookKeys.some((key) => {
        const expected = createHmac('sha512', key).update(raw).digest()
        return given.length === expected.length && timingSafeEqual(given, expected)
      })
      return known ? referenceIn(raw) : undefined
    },
  }
}

function wireCharge({ reference, amountKobo, email, creatorId }: ChargeRequest) {
  const metadata = creatorId !== undefined && { metadata: { creator_id: creatorId } }
  return { email, amount: String(amountKobo), currency: 'NGN', reference, ...metadata }
}

const ownMetadata = z.object({ creator_id: z.uuid() })

function creatorOf(metadata: unknown): string | undefined {
  try {
    return ownMetadata.safeParse(typeof metadata === 'string' ? JSON.parse(metadata) : metadata).data
      ?.creator_id
  } catch {
    return undefined
  }
}

function stateOf(reference: string, row: Transaction): ChargeState {
  if (row.reference !== reference)
    throw new ProviderError('ambiguous', 'fiatpay answered about another reference')
  if (isPayment(row)) {
    const newest = paymentOf(row)
    return { status: newest.reversed ? 'reversed' : 'paid', newest }
  }
  return { status: row.status === 'failed' ? 'failed' : 'unpaid' }
}

/** Whether money arrived. A reversed transaction without a time of payment never was one. */
function isPayment({ status, paid_at: paidAt }: Transaction): boolean {
  return status === 'success' || (status === 'reversed' && paidAt !== null)
}

/** The channels in which the payer's bank has sent the money. Everything else counts as a card. */
const sentByBank: readonly unknown[] = ['bank_transfer', 'bank', 'ussd', 'eft', 'mobile_money']

function paymentOf({
  id,
  status,
  amount,
  fees,
  currency,
  paid_at: paidAt,
  channel,
  metadata,
}: Transaction): Payment {
  if (currency !== 'NGN') throw new ProviderError('ambiguous', 'fiatpay names another currency')
  if (paidAt === null) throw new ProviderError('ambiguous', 'fiatpay names no time of payment')
  const creatorId = creatorOf(metadata)
  return {
    transaction: String(id),
    kobo: amount,
    feeKobo: fees ?? 0n,
    reversed: status === 'reversed',
    paidAt: new Date(paidAt),
    byCard: !sentByBank.includes(channel),
    ...(creatorId !== undefined && { creatorId }),
  }
}

/** None, if no money arrived. */
function readPayment(row: unknown): ListedPayment[] {
  const read = parse(transaction, row)
  return isPayment(read) ? [{ ...paymentOf(read), reference: read.reference }] : []
}

/** The sort is stable, so payments of the same millisecond stay in order of the provider's ids. */
function byTime(a: Payment, b: Payment): number {
  return a.paidAt.getTime() - b.paidAt.getTime()
}

function referenceIn(raw: Uint8Array): string | null {
  try {
    return webhookEvent.safeParse(JSON.parse(Buffer.from(raw).toString('utf8'))).data?.data ?? null
  } catch {
    return null
  }
}
