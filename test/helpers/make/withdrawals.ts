import { randomBytes } from 'node:crypto'
import type { Outcome } from '../../../scripts/sandbox/fiatpay/records.js'
import { composePayoutSender } from '../../../src/compose.js'
import { platformAccount, transferEntries, userAccount } from '../../../src/ledger/accounts.js'
import { credit } from '../../../src/ledger/transfers.js'
import { reconciledStates } from '../../../src/outgoing/lifecycle.js'
import { payoutKind } from '../../../src/withdrawals/send/payout-kind.js'
import { reconcileNow } from '../../../src/withdrawals/work-queue.js'
import { workers } from '../../../workers/registry.js'
import { as } from '../servers/roles.js'
import { runBatch, type World } from '../servers/world.js'
import { type Person, proveEmailOf, registerPerson } from './creators.js'

/** The answer of POST /payouts/withdraw. */
export interface WithdrawalBody {
  readonly success: true
  readonly provider: string
  readonly reference: string
  readonly status: 'pending' | 'submitted'
  readonly amountNGN: number
  readonly systemFeeNGN: number
  readonly amountUSDC?: number
  readonly currency: string
  readonly requiresVerification: boolean
  readonly heldFor: string | null
}

/** One of GET /payouts/history. */
export interface PayoutBody {
  readonly reference: string
  readonly status: string
  readonly amountNGN: number
  readonly promisedNGN: number
  readonly systemFeeNGN: number
  readonly amountUSDC: number
  readonly bankName: string | null
  readonly accountNumber: string
  readonly requiresVerification: boolean
  readonly heldFor: string | null
  readonly failureReason: string | null
  readonly createdAt: string
  readonly submittedAt: string | null
  readonly processingAt: string | null
  readonly completedAt: string | null
  readonly failedAt: string | null
}

/** Settings of a world: the provider is asked again soon, and larger payouts need a verified name. */
export const quickPayouts = {
  PAYOUT_SECONDS: '15,0.05,0.5',
  IDENTITY_SINGLE_NGN: '200000',
} as const

export const bank = { bankCode: '058', accountNumber: '0123456789', accountName: 'Ada Obi' } as const

/** What sends withdrawals, as the payouts worker has it. */
export function sendingKind({ services }: Pick<World, 'services'>) {
  return payoutKind({ ...as('payouts', services), sender: composePayoutSender(services.config) })
}

/** Adds micro-USDC to a user's available balance. */
export async function creditCreator({ db }: Pick<World, 'db'>, userId: string, micro: bigint): Promise<void> {
  const entries = transferEntries(
    micro,
    platformAccount('custody_wallets', 'USDC'),
    userAccount(userId, 'available', 'USDC'),
  )
  await credit(db, { key: `test:${randomBytes(8).toString('hex')}`, ref: 'tip:test', entries })
}

/** Registers a person with a proven e-mail and this many USDC. */
export async function creatorWithBalance(world: World, usdc: number): Promise<Person> {
  const person = await registerPerson(world)
  await proveEmailOf(world, person)
  if (usdc > 0) await creditCreator(world, person.user.id, BigInt(Math.round(usdc * 1e6)))
  return person
}

/** Requests a withdrawal and returns the answer, also a refusal. */
export function requestWithdrawal<Body = WithdrawalBody>(
  { request }: World,
  { session }: Person,
  body: Record<string, unknown>,
  key?: string,
) {
  return request<Body>('POST', '/payouts/withdraw', {
    session,
    body: { ...bank, ...body },
    ...(key === undefined ? {} : { headers: { 'idempotency-key': key } }),
  })
}

/** Creates a withdrawal. Throws when it is refused. */
export async function createWithdrawal(
  world: World,
  person: Person,
  body: Record<string, unknown>,
): Promise<WithdrawalBody> {
  const answer = await requestWithdrawal(world, person, body)
  if (answer.status !== 200) throw new Error(`withdraw: ${answer.status} ${JSON.stringify(answer.body)}`)
  return answer.body
}

export async function listHistory({ request }: World, { session }: Person): Promise<PayoutBody[]> {
  const answer = await request<{ payouts: PayoutBody[] }>('GET', '/payouts/history', { session })
  return answer.body.payouts
}

export async function readBalance({ request }: World, { session }: Person) {
  const answer = await request<{ balance: { availableUSDC: number; heldUSDC: number } }>(
    'GET',
    '/creators/balance',
    { session },
  )
  const { availableUSDC, heldUSDC } = answer.body.balance
  return { availableUSDC, heldUSDC }
}

/** Makes all withdrawals with a due time due now. */
export async function makeWithdrawalsDue({ db }: Pick<World, 'db'>): Promise<void> {
  await db('withdrawals')
    .whereNotNull('due_at')
    .update({ due_at: new Date(0) })
}

/** Runs the payout worker until nothing is due. */
export function sendDuePayouts({ services }: World): Promise<number> {
  return runBatch(workers.payouts.createBatch(as('payouts', services)))
}

/** Makes all withdrawals due and runs the reconciler until it has processed each. */
export async function reconcileAll(world: World): Promise<void> {
  // The worker skips a row that a webhook has locked, and that webhook makes it due. Nothing was skipped when no row is due.
  for (let left = 1; left > 0; ) {
    await makeWithdrawalsDue(world)
    await workers.reconciler.createBatch(as('reconciler', world.services))()
    const due = await world
      .db('withdrawals')
      .whereIn('send_state', reconciledStates)
      .whereRaw('due_at <= clock_timestamp()')
    left = due.length
  }
}

export interface PayoutRow {
  readonly id: string
  readonly status: string
  readonly send_state: string
  readonly sends: number
  readonly last_error: string | null
  readonly sealed_resolved_name: Buffer | null
  readonly recipient_code: string | null
  readonly due_at: Date | null
  readonly recredited_at: Date | null
  readonly replays: number
}

export function readWithdrawalRow({ db }: Pick<World, 'db'>, reference: string): Promise<PayoutRow> {
  return db('withdrawals').where({ reference }).first()
}

/** How often the provider executed a withdrawal, by its log. */
export function countExecutions({ fiat }: World, reference: string): number {
  return fiat.fiatpay.log().transfers.filter((line) => line.reference === reference.toLowerCase()).length
}

/** The provider gives a withdrawal's transfer this outcome, and the reconciler has asked it since. */
export async function followOutcome(world: World, reference: string, outcome: Outcome): Promise<void> {
  const { fiatpay } = world.fiat
  const transfer = fiatpay.transfers.find(reference)
  if (transfer === undefined) throw new Error('the provider has no such transfer')
  fiatpay.setOutcome(transfer, outcome)
  await reconcileNow(world.services, reference.toLowerCase())
  await reconcileAll(world)
}

/** A withdrawal of this many USDC that the provider executed and that still is under way there. */
export async function createExecuted(
  world: World,
  usdc: number,
): Promise<{ ada: Person; reference: string }> {
  const ada = await creatorWithBalance(world, usdc)
  world.fiat.fiatpay.faults.setMode({ transfers: 'manual' })
  const { reference } = await createWithdrawal(world, ada, { amountUSDC: usdc })
  await sendDuePayouts(world)
  return { ada, reference }
}

/** Moves the first sight of a withdrawal's reviews so many hours into the past. */
export async function moveReviews(
  { db }: Pick<World, 'db'>,
  reference: string,
  hours: number,
): Promise<void> {
  await db('review_items')
    .whereIn('withdrawal_id', db('withdrawals').select('id').where({ reference }))
    .update({ created_at: new Date(Date.now() - hours * 3_600_000) })
}
