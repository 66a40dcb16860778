import { createSettlementBatch } from '../../../../src/fiat/settle-due-intents.js'
import type { Batch } from '../../../../src/platform/worker/batch-loop.js'
import { as } from '../../servers/roles.js'
import { runBatch, type World } from '../../servers/world.js'
import { until } from '../../until.js'
import type { Person } from '../creators.js'

/** The answer of POST /payments/fiat/intent. */
export interface FiatIntentBody {
  readonly success: true
  readonly intentId: string
  readonly status: 'requires_action'
  readonly checkoutUrl: string | null
  readonly paymentInstructions: null | {
    readonly bankName: string
    readonly accountNumber: string
    readonly accountName: string
    readonly amount: number
    readonly currency: string
    readonly reference: string
  }
  readonly expiresAt: string
}

/** Creates a fiat intent. Throws when it is refused. */
export async function createFiatIntent(
  { request }: World,
  body: Record<string, unknown>,
  bearer?: string,
): Promise<FiatIntentBody> {
  const options = { body, ...(bearer !== undefined && { bearer }) }
  const answer = await request<FiatIntentBody>('POST', '/payments/fiat/intent', options)
  if (answer.status !== 200) throw new Error(`fiat: ${answer.status} ${JSON.stringify(answer.body)}`)
  return answer.body
}

export const referenceOf = (intentId: string): string => intentId.replace('_', '-')

/** Pays an intent's charge at the stand-in: the whole amount, or this many kobo. */
export function payFiatIntent({ fiat }: World, intentId: string, kobo?: number): void {
  const charge = fiat.fiatpay.charges.find(intentId)
  if (charge === undefined) throw new Error(`no charge for ${intentId}`)
  fiat.fiatpay.pay(charge, kobo ?? charge.amountKobo)
}

/** Makes an intent's charge fail at the stand-in. */
export function failCharge({ fiat }: World, intentId: string): void {
  const charge = fiat.fiatpay.charges.find(intentId)
  if (charge === undefined) throw new Error(`no charge for ${intentId}`)
  fiat.fiatpay.failCharge(charge)
}

export const settlementBatch = ({ services }: Pick<World, 'services'>): Batch =>
  createSettlementBatch(as('settlement', services))

/** The last settlement of each world. A batch takes the intents of all tests of a file. */
const settlements = new WeakMap<World, Promise<void>>()

/**
 * Makes an intent due and runs the settlement worker. One at a time, so that the intent is settled and not only taken by
 * another test's batch when this resolves.
 */
export function settleIntentNow(world: World, intentId: string): Promise<void> {
  const before = settlements.get(world) ?? Promise.resolve()
  const settled = before.catch(() => undefined).then(() => settleOne(world, intentId))
  settlements.set(world, settled)
  return settled
}

/**
 * Repeats both steps: the row can be locked by a webhook, a worker that has it taken already writes its own next time over this one
 * when it finishes, and a busy machine can end a statement.
 */
async function settleOne(world: World, intentId: string): Promise<void> {
  const intent = () => world.db('fiat_intents').where({ id: intentId })
  const { attempts } = await intent().first()
  await until('the intent is polled', async () => {
    await intent().update({ due_at: new Date(0) })
    await runBatch(settlementBatch(world))
    const looked = await intent().first()
    return looked.attempts > attempts && looked.last_error !== 'unexpected error'
  })
}

interface FiatStatusBody {
  readonly success: true
  readonly intentId: string
  readonly status: string
  readonly completedAt: string | null
}

export async function readFiatStatus({ request }: World, intentId: string): Promise<string> {
  const answer = await request<FiatStatusBody>('GET', `/payments/fiat/status?intentId=${intentId}`)
  if (answer.status !== 200) throw new Error(`status: ${answer.status} ${JSON.stringify(answer.body)}`)
  return answer.body.status
}

/** The creator's available balance in USDC. */
export async function readAvailableUsdc({ request }: World, { session }: Person): Promise<number> {
  const answer = await request<{ balance: { availableUSDC: number } }>('GET', '/creators/balance', {
    session,
  })
  return answer.body.balance.availableUSDC
}

/** Moves an intent's expiry this many seconds into the past. */
export async function expireFiatIntent({ db }: World, intentId: string, seconds = 1): Promise<void> {
  await db.raw(
    `update fiat_intents set expires_at = clock_timestamp() - ? * interval '1 second',
       created_at = clock_timestamp() - (? + 1800) * interval '1 second' where id = ?`,
    [seconds, seconds, intentId],
  )
}

/** The suspense items of an intent: reason and kobo. */
export async function listSuspense({ db }: World, intentId: string): Promise<[string, bigint][]> {
  const rows = await db('suspense_items as s')
    .join('fiat_payments as p', 'p.provider_transaction', 's.provider_transaction')
    .where({ intent_id: intentId })
    .orderBy('s.created_at')
    .select('s.reason', 's.kobo')
  return rows.map(({ reason, kobo }) => [reason, kobo])
}

/** The balance of a platform account in base units. */
export async function readPlatformBalance({ db }: World, kind: string, currency: string): Promise<bigint> {
  const row = await db('ledger_entries as e')
    .join('ledger_accounts as a', 'a.id', 'e.account_id')
    .where({ kind, currency })
    .whereNull('a.user_id')
    .sum({ units: 'e.amount' })
    .first()
  return BigInt(row?.units ?? 0)
}

/** Accepts a rate and takes the feed down, so that it stays the last one. Returns what undoes that. */
export async function acceptRate({ db, fiat }: World, value: number): Promise<() => Promise<void>> {
  const at = new Date()
  const row = { pair: 'USD/NGN', value, source: 'feed', as_of: at, accepted_at: at, accepted_by: 'feed' }
  await db('rates').insert(row)
  fiat.rates.set({ feed: 'down' })
  return async () => {
    fiat.rates.reset()
    await db('rates')
      .where({ value })
      .update({ accepted_at: new Date(0) })
  }
}
