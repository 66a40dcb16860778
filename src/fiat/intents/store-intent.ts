import type { Knex } from 'knex'
import type { OwnReference } from '../../intents/own-reference.js'
import { DomainError } from '../../kernel/errors.js'
import { providerReferenceOf } from '../../kernel/ids.js'
import type { Language } from '../../kernel/languages.js'
import { displayNumber, displayText } from '../../kernel/money.js'
import type { Origin } from '../../kernel/trace-context.js'
import type { AcceptedRate } from '../../market/accepted-rates.js'
import { query, write } from '../../platform/database/database.js'
import type { TransferAccount } from '../../ports/collections.js'
import { rateDecimals } from '../../ports/exchange-rates.js'
import type { Services } from '../../services.js'
import { recordFiatTip } from '../../tips/fiat-tip.js'
import { type ChargeBasis, type FiatPrice, presentFiatDetails } from '../fees.js'
import { nextPoll } from '../settlement/poll-schedule.js'
import { findOrCreatePayer, type PayerDetails } from './payer.js'

/** Open intents are limited for each pair of a creator and the caller's network. */
export interface Owner {
  readonly userId: string
  readonly network: string
}

/** The SDK session in which a supporter asks for a tip to this creator. `count` returns false when it has no intent left. */
export interface NairaSession {
  readonly id: string
  readonly userId: string
  readonly own: OwnReference
  readonly count: (trx: Knex.Transaction) => Promise<boolean>
}

/** A fiat intent whose charge the provider has opened. */
export interface FiatIntent {
  readonly id: string
  readonly owner: Owner
  readonly payer: PayerDetails
  readonly memo: string | null
  readonly price: FiatPrice
  readonly basis: ChargeBasis
  readonly rate: AcceptedRate
  readonly collection: { readonly checkoutUrl: string } | { readonly account: TransferAccount }
  /** By the database's clock. */
  readonly expiresAt: Date
  readonly lifeMs: number
  readonly origin: Origin
  readonly session: NairaSession | undefined
  readonly own: OwnReference
  readonly language: Language | undefined
}

/**
 * Throws `too_many_requests` when the owner has as many open intents as allowed. Called before the charge is opened, and
 * again under a lock when the intent is stored.
 */
export async function checkOpenIntents(
  { db, config }: Pick<Services, 'db' | 'config'>,
  { userId, network }: Owner,
): Promise<void> {
  const { factor } = config.limits
  if (factor === 0) return
  const maxOpen = Math.max(1, Math.round(config.fiat.openIntents * factor))
  const [row] = await query<{ open: number }>(db, {
    name: 'fiat.count-open',
    text: 'select count(*)::int as open from fiat_intents where user_id = $1 and client_network = $2',
    values: [userId, network],
  })
  if ((row?.open ?? 0) >= maxOpen) throw new DomainError('too_many_requests')
}

/** Stores the intent and its pending tip in one transaction, which `atEnd` may refuse. Throws `too_many_requests`. */
export async function storeFiatIntent(
  { db, transact, config }: Pick<Services, 'db' | 'transact' | 'config'>,
  intent: FiatIntent,
  atEnd: (trx: Knex.Transaction) => Promise<void>,
): Promise<void> {
  const { id, owner, payer, price } = intent
  const { receiptTo } = payer
  const payerId = receiptTo === undefined ? undefined : await findOrCreatePayer({ db, config }, receiptTo)
  await transact(async ({ trx }) => {
    await lockOwner(trx, owner)
    await checkOpenIntents({ db: trx, config }, owner)
    await recordFiatTip(trx, {
      id,
      userId: owner.userId,
      sender: payer.name,
      message: intent.memo,
      amountCents: price.amountCents,
      details: presentFiatDetails(price),
      origin: intent.origin,
      own: intent.own,
    })
    const sessionId = (await intent.session?.count(trx)) ? intent.session?.id : undefined
    await insertIntent(trx, intent, { payerId, sessionId }, config.fiat.watchDays)
    await atEnd(trx)
  })
}

/** The lock is taken before the next statement: both are sent together. */
async function lockOwner(trx: Knex, { userId, network }: Owner): Promise<void> {
  await write(trx, {
    name: 'fiat.lock-owner',
    text: 'select pg_advisory_xact_lock(hashtextextended($1, 0))',
    values: [`fiat ${userId} ${network}`],
  })
}

async function insertIntent(
  trx: Knex,
  { id, owner, price, basis, rate, collection, expiresAt, lifeMs, language }: FiatIntent,
  { payerId, sessionId }: { readonly payerId: bigint | undefined; readonly sessionId: string | undefined },
  watchDays: number,
): Promise<void> {
  const firstPollSeconds = nextPoll(
    { sinceCreated: 0, untilExpiry: lifeMs / 1000, completed: false },
    watchDays,
  )
  await write(trx, {
    name: 'fiat.insert',
    text: /* sql */ `
      insert into fiat_intents (id, user_id, rate_id, amount_cents, fee_cents, final_cents, basis, charge_kobo, charge_given, payer_id,
        provider_reference, checkout_url, instructions, metadata, expires_at, client_network, due_at,
        sdk_session_id, language)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16,
        clock_timestamp() + $17 * interval '1 second', $18, $19)`,
    values: [
      id,
      owner.userId,
      rate.id,
      price.amountCents,
      price.feeCents,
      price.finalCents,
      basis,
      price.chargeKobo,
      price.isChargeGiven,
      payerId ?? null,
      providerReferenceOf(id),
      'checkoutUrl' in collection ? collection.checkoutUrl : null,
      'account' in collection ? JSON.stringify(collection.account) : null,
      JSON.stringify({
        platformFee: displayNumber(price.feeCents, 2),
        rate: displayText(rate.value, rateDecimals),
        rateId: String(rate.id),
        basis,
      }),
      expiresAt,
      owner.network,
      firstPollSeconds,
      sessionId ?? null,
      language ?? null,
    ],
  })
}
