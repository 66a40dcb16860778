import { DomainError } from '../../kernel/errors.js'
import { newPayoutReference } from '../../kernel/ids.js'
import { readBalance } from '../../ledger/balance.js'
import type { CurrentRate, ExchangeRates } from '../../market/exchange-rates.js'
import type { KeyedRequest } from '../../platform/database/idempotency-keys.js'
import type { KeyedMutex } from '../../platform/keyed-mutex.js'
import type { Services } from '../../services.js'
import { presentWithdrawal } from '../present.js'
import { priceWithdrawal, type WithdrawalPrice } from '../price-withdrawal.js'
import type { WithdrawAnswer, WithdrawInput } from '../schemas.js'
import type { Withdrawal } from '../withdrawal.js'
import { parseAmount } from './parse-amount.js'
import { findStored, KeyTaken, type NewWithdrawal, storeWithdrawal } from './store-withdrawal.js'
import type { WaitForOutcome } from './wait-for-outcome.js'

type Needs = Pick<Services, 'db' | 'transact' | 'config' | 'wake'>

/** Who withdraws, and the key of the request, if there is one. */
export interface Withdrawing {
  readonly userId: string
  readonly claim: KeyedRequest | undefined
}

/** What a process keeps for all withdrawals. */
export interface WithdrawTools {
  readonly rates: ExchangeRates
  /** Somebody's own requests at once would only hold connections while they wait for the same balance. */
  readonly perUser: KeyedMutex
  readonly waitForOutcome: WaitForOutcome
}

/**
 * Withdraws to a bank account (contract: POST /payouts/withdraw): holds the money, leaves the sending to the worker and
 * waits for its verdict. Refuses in the contract's order, and before anything is held. Throws `payout_refused` with the
 * provider's text; a request repeated under its key finds its withdrawal, whatever became of the first answer.
 */
export async function withdraw(
  services: Needs,
  { rates, perUser, waitForOutcome }: WithdrawTools,
  input: WithdrawInput,
  who: Withdrawing,
): Promise<WithdrawAnswer> {
  const withdrawal =
    (await findByKey(services, who.claim)) ??
    (await perUser(who.userId, () => place(services, rates, input, who)))
  const verdict = await waitForOutcome(withdrawal.reference)
  if (verdict.kind === 'failed') throw new DomainError('payout_refused', verdict.reason)
  return presentWithdrawal(withdrawal, verdict.kind)
}

async function findByKey(services: Needs, claim: KeyedRequest | undefined): Promise<Withdrawal | undefined> {
  if (claim === undefined) return undefined
  const found = await findStored(services, { claim })
  if (found?.sameRequest === false) throw new DomainError('idempotency_key_reused')
  return found
}

async function place(
  services: Needs,
  rates: ExchangeRates,
  input: WithdrawInput,
  { userId, claim }: Withdrawing,
): Promise<Withdrawal> {
  const { price, rate, currency } = await priceNow(services, rates, input, userId)
  const { bankCode, accountNumber, accountName } = input
  const reference = newPayoutReference()
  const bank = { bankCode, accountNumber, accountName }
  const wanted = { ...price, ...bank, userId, reference, currency, rateId: rate.id, claim }
  return store(services, wanted)
}

/** The balance is looked at first: a request beyond it is refused however large it is, and costs no rate. */
async function priceNow(
  { db, config }: Needs,
  rates: ExchangeRates,
  { amountUSDC, amountNGN }: WithdrawInput,
  userId: string,
): Promise<{ price: WithdrawalPrice; rate: CurrentRate; currency: 'USDC' | 'NGN' }> {
  const asked = parseAmount(amountUSDC, amountNGN)
  if (asked === undefined) throw new DomainError('invalid_amount')
  const { available } = await readBalance(db, userId, 'USDC')
  if (asked.currency === 'USDC') refuseBeyond(available, asked.micro)
  const rate = await rates.current()
  const price = priceWithdrawal(asked, rate.value, config.withdrawals)
  refuseBeyond(available, price.debitMicro)
  if (price.netKobo < BigInt(config.withdrawals.minNgn) * 100n) throw new DomainError('invalid_amount')
  return { price, rate, currency: asked.currency }
}

function refuseBeyond(available: bigint, micro: bigint): void {
  if (micro > available) throw new DomainError('insufficient_balance')
}

/**
 * An error of COMMIT says nothing about the commit: what decides is whether the withdrawal is there. When nobody can tell
 * yet, the request fails without a word about the money, and its repetition under the same key finds out.
 */
async function store(services: Needs, wanted: NewWithdrawal): Promise<Withdrawal> {
  try {
    await services.transact((uow) => storeWithdrawal(uow, services, wanted))
  } catch (error) {
    if (error instanceof DomainError) throw error
    const key = error instanceof KeyTaken ? { claim: wanted.claim } : { reference: wanted.reference }
    const found = await findStored(services, key).catch(() => undefined)
    if (found === undefined) throw error
    services.wake('payouts')
    return found
  }
  const stored = await findStored(services, { reference: wanted.reference })
  if (stored === undefined) throw new Error(`The withdrawal ${wanted.reference} is not there`)
  return stored
}
