import { DomainError, inputError } from '../../kernel/errors.js'
import { newPayoutReference } from '../../kernel/ids.js'
import { displayNumber } from '../../kernel/money.js'
import { lockBalances, readBalance } from '../../ledger/accounts.js'
import type { AcceptedRate } from '../../market/accepted-rates.js'
import type { ExchangeRates } from '../../market/exchange-rates.js'
import { waitsForBreaker } from '../../outgoing/guards.js'
import { heldStates } from '../../outgoing/lifecycle.js'
import { isDatabaseUnavailable } from '../../platform/database/connections/unavailable.js'
import { query } from '../../platform/database/database.js'
import type { KeyedRequest } from '../../platform/database/idempotency-keys.js'
import { waitForRow } from '../../platform/database/wait-for-row.js'
import type { KeyedMutex } from '../../platform/keyed-mutex.js'
import type { Services } from '../../services.js'
import { accountHash, type BankAccount, bankAccountOf } from '../bank-account.js'
import { exceedsBalance, parseAmount, priceWithdrawal, type WithdrawalPrice } from '../price-withdrawal.js'
import type { WithdrawAnswer, WithdrawInput } from '../schemas.js'
import { heldFor, payoutChannel, type Withdrawal } from '../withdrawal.js'
import { waitsForDispute } from '../work-queue.js'
import { assertListed, type BankList } from './banks.js'
import { resolveHolder } from './identity-hold.js'
import { findStored, KeyTaken, type NewWithdrawal, storeWithdrawal } from './store-withdrawal.js'

type Needs = Pick<Services, 'db' | 'transact' | 'config' | 'wake' | 'payouts' | 'log'>

/** Who withdraws, and the idempotency key of the request, if it has one. */
export interface Requester
  extends Pick<NewWithdrawal, 'network' | 'deviceHash' | 'sessionHash' | 'sessionAge' | 'origin'> {
  readonly userId: string
  readonly keyedRequest: KeyedRequest | undefined
}

/** One per process, for all withdrawals. */
export interface WithdrawTools {
  readonly rates: ExchangeRates
  readonly banks: Pick<BankList, 'includes'>
  /** Parallel requests of one user would only hold connections while they wait for the same balance. */
  readonly perUser: KeyedMutex
  readonly waitForOutcome: WaitForOutcome
}

/**
 * Withdraws to a bank account (API: POST /payouts/withdraw). Reserves the money, leaves the sending to the worker, and waits
 * for the outcome. All refusals but `payout_refused` come before any money is reserved. Throws `payout_refused` with the
 * provider's text. A request that is repeated under its key finds its withdrawal, whether or not the first one was answered.
 */
export async function withdraw(
  services: Needs,
  { rates, banks, perUser, waitForOutcome }: WithdrawTools,
  input: WithdrawInput,
  requester: Requester,
): Promise<WithdrawAnswer> {
  const startedMs = performance.now()
  const withdrawal =
    (await findByKey(services, requester.keyedRequest)) ??
    (await perUser(requester.userId, () => create(services, { rates, banks }, input, requester)))
  return answerOutcome(withdrawal, waitForOutcome, startedMs)
}

/**
 * The answer to a request whose withdrawal is stored under its key; undefined when there is none. So a repetition does not
 * wait for the lease of a web process that died after the commit. Throws as `withdraw`.
 */
export async function findStoredWithdrawal(
  services: Pick<Services, 'db'>,
  { waitForOutcome }: Pick<WithdrawTools, 'waitForOutcome'>,
  keyedRequest: KeyedRequest,
): Promise<WithdrawAnswer | undefined> {
  const startedMs = performance.now()
  const withdrawal = await findByKey(services, keyedRequest)
  return withdrawal && answerOutcome(withdrawal, waitForOutcome, startedMs)
}

async function answerOutcome(
  withdrawal: Withdrawal,
  waitForOutcome: WaitForOutcome,
  startedMs: number,
): Promise<WithdrawAnswer> {
  const outcome = outcomeOf(withdrawal) ?? (await waitForOutcome(withdrawal.reference, startedMs))
  if (outcome.kind === 'failed') throw new DomainError('payout_refused', outcome.reason)
  const { waitsForBreaker = false, waitsForDispute = withdrawal.waitsForDispute } = outcome
  return presentWithdrawal({ ...withdrawal, waitsForBreaker, waitsForDispute }, outcome.kind)
}

async function findByKey(
  services: Pick<Services, 'db'>,
  keyedRequest: KeyedRequest | undefined,
): Promise<Withdrawal | undefined> {
  if (keyedRequest === undefined) return undefined
  const found = await findStored(services, { keyedRequest })
  if (found?.sameRequest === false) throw new DomainError('idempotency_key_reused')
  return found
}

async function create(
  services: Needs,
  { rates, banks }: Pick<WithdrawTools, 'rates' | 'banks'>,
  input: WithdrawInput,
  { userId, ...requester }: Requester,
): Promise<Withdrawal> {
  const bank = await bankOf(services, input, userId)
  const { bankCode } = bank
  await assertListed(banks, bankCode)
  const { price, rate, currency } = await priceNow(services, rates, input, userId)
  // Three digits are a code by form. Only a known list refuses one, and only after the balance (API).
  if (bankCode.length === 3 && (await banks.includes(bankCode)) === false)
    throw new DomainError('bank_details_required')
  return storeOrFind(services, {
    ...price,
    ...bank,
    ...(await resolveHolder(services, bank)),
    ...requester,
    accountHash: accountHash(services.config, bank),
    userId,
    reference: newPayoutReference(),
    currency,
    rateId: rate.id,
  })
}

/** The account that the input names, by its details or by an earlier withdrawal. */
async function bankOf(
  services: Pick<Services, 'db' | 'config'>,
  { bankAccountOf: reference, bankCode, accountNumber, accountName }: WithdrawInput,
  userId: string,
): Promise<BankAccount> {
  if (reference !== undefined) return bankAccountOf(services, userId, reference)
  if (bankCode === undefined || accountNumber === undefined || accountName === undefined)
    throw new DomainError('bank_details_required')
  return { bankCode, accountNumber, accountName }
}

/** Reads the balance first, so that an amount in USDC above it is refused without a rate. */
async function priceNow(
  { db, config }: Needs,
  rates: ExchangeRates,
  { amountUSDC, amountNGN }: WithdrawInput,
  userId: string,
): Promise<{ price: WithdrawalPrice; rate: AcceptedRate; currency: 'USDC' | 'NGN' }> {
  const amount = parseAmount(amountUSDC, amountNGN)
  if (amount === undefined) throw new DomainError('invalid_amount')
  const { available } = await readBalance(db, userId, 'USDC')
  if (amount.currency === 'USDC' && exceedsBalance(amount, available))
    throw aboveBalance('amountUSDC', available)
  const rate = await rates.current()
  const price = priceWithdrawal(amount, rate.value, config.withdrawals)
  const field = amount.currency === 'USDC' ? 'amountUSDC' : 'amountNGN'
  if (price.debitMicro > available) throw aboveBalance(field, available)
  if (price.netKobo < BigInt(config.withdrawals.minNgn) * 100n)
    throw inputError(
      'invalid_amount',
      field,
      `must leave at least ${config.withdrawals.minNgn} NGN after the fee of ${displayNumber(price.feeKobo, 2)} NGN`,
    )
  return { price, rate, currency: amount.currency }
}

function aboveBalance(field: 'amountUSDC' | 'amountNGN', available: bigint): DomainError {
  const problem = `is above the available balance of ${displayNumber(available, 6)} USDC`
  return inputError('insufficient_balance', field, problem)
}

/**
 * An error of COMMIT does not say whether the transaction was committed, so this reads whether the withdrawal exists. It waits for the
 * lock of the balance first: PostgreSQL may still be at the COMMIT. If that fails too, the request fails, and a repetition under the same
 * key finds out.
 */
async function storeOrFind(services: Needs, withdrawal: NewWithdrawal): Promise<Withdrawal> {
  const { reference, keyedRequest } = withdrawal
  try {
    return await services.transact((uow) => storeWithdrawal(uow, services, withdrawal))
  } catch (error) {
    if (error instanceof DomainError) throw error
    const key = error instanceof KeyTaken ? { keyedRequest } : { reference }
    const found = await services
      .transact(async ({ trx }) => {
        await lockBalances(trx, withdrawal.userId)
        return findStored({ db: trx }, key)
      })
      .catch(() => undefined)
    if (found === undefined) throw error
    services.wake('payouts')
    return found
  }
}

/** `submitted`: the provider accepted it. `pending`: it waits, or nothing is known yet. `reason`: the provider's text. */
type Outcome =
  | {
      readonly kind: 'submitted' | 'pending'
      readonly waitsForBreaker?: boolean
      readonly waitsForDispute?: boolean
    }
  | { readonly kind: 'failed'; readonly reason: string }

export type WaitForOutcome = (reference: string, startedMs: number) => Promise<Outcome>

/** Requests of one process that may wait for the provider. */
const mostWaits = 500

/**
 * Waits, until a limited time after the request's start, until the worker knows whether the provider accepts a withdrawal, which the caller has
 * just read. Limits how many requests of a process wait, so that a slow provider does not pile up requests; the others get `pending`
 * without a wait.
 */
export function createWaitForOutcome(
  services: Pick<Services, 'db' | 'notifications' | 'config'>,
): WaitForOutcome {
  const { waitMs } = services.config.withdrawals
  let waiting = 0
  return async (reference, startedMs) => {
    const leftMs = Math.max(0, startedMs + waitMs - performance.now())
    const totalMs = waiting < mostWaits ? leftMs : 0
    waiting += 1
    try {
      const read = () => readOutcome(services, reference)
      const { notifications } = services
      const options = { notifications, channel: payoutChannel(reference), totalMs, isRead: true }
      return (await waitForRow(read, options)) ?? { kind: 'pending' }
    } catch (error) {
      // The withdrawal is stored, whatever happens to the database now.
      if (isDatabaseUnavailable(error)) return { kind: 'pending' }
      throw error
    } finally {
      waiting -= 1
    }
  }
}

type Decided = Pick<
  Withdrawal,
  'status' | 'sendState' | 'failureReason' | 'waitsForBreaker' | 'waitsForDispute'
>

async function readOutcome({ db }: Pick<Services, 'db'>, reference: string): Promise<Outcome | undefined> {
  const [row] = await query<Decided>(db, {
    name: 'payouts.outcome',
    text: /* sql */ `
      select status, send_state as "sendState", failure_reason as "failureReason", ${waitsForBreaker('w')} as "waitsForBreaker",
        ${waitsForDispute('w')} as "waitsForDispute"
      from withdrawals w where reference = $1`,
    values: [reference],
  })
  return row && outcomeOf(row)
}

/** Undefined while a worker may still decide it. */
function outcomeOf({
  status,
  sendState,
  failureReason,
  waitsForBreaker,
  waitsForDispute,
}: Decided): Outcome | undefined {
  if (status === 'failed') return { kind: 'failed', reason: failureReason ?? '' }
  if (waitsForBreaker) return { kind: 'pending', waitsForBreaker }
  if (heldStates.includes(sendState) || waitsForDispute) return { kind: 'pending', waitsForDispute }
  return status === 'pending' ? undefined : { kind: 'submitted' }
}

function presentWithdrawal(withdrawal: Withdrawal, status: 'pending' | 'submitted'): WithdrawAnswer {
  const { reference, currency, netKobo, feeKobo, debitMicro } = withdrawal
  return {
    provider: 'fiatpay',
    reference,
    status,
    amountNGN: displayNumber(netKobo, 2),
    systemFeeNGN: displayNumber(feeKobo, 2),
    ...(currency === 'USDC' ? { amountUSDC: displayNumber(debitMicro, 6) } : {}),
    currency,
    requiresVerification: heldFor(withdrawal) === 'identity',
    heldFor: heldFor(withdrawal),
  }
}
