import { noOrigin } from '../../kernel/trace-context.js'
import { spendOwing } from '../../ledger/receivables/receivables.js'
import { query, write } from '../../platform/database/database.js'
import type { UnitOfWork } from '../../platform/database/transact.js'
import type { ProviderTransfer } from '../../ports/payouts.js'
import type { Services } from '../../services.js'
import { accountHash, sealAccount } from '../bank-account.js'
import { reserveHold } from '../ledger-entries.js'
import { priceOfNet, type WithdrawalPrice } from '../price-withdrawal.js'
import { payoutJob } from '../work-queue.js'

/** A withdrawal that the provider has and these rows lost in a restore (docs/decisions/0072). */
export interface LostWithdrawal {
  readonly reference: string
  readonly userId: string
  readonly rateId: bigint
  readonly price: WithdrawalPrice
  readonly payee: NonNullable<ProviderTransfer['payee']>
}

/** Those who have used the bank account before: one of them asked for it. */
export async function findOwners(
  { db, config }: Pick<Services, 'db' | 'config'>,
  payee: LostWithdrawal['payee'],
): Promise<string[]> {
  const rows = await query<{ userId: string }>(db, {
    name: 'adopt.owners',
    text: /* sql */ `
      select user_id as "userId" from payees where account_hash = $1
      union select user_id from withdrawals where account_hash = $1`,
    values: [accountHash(config, payee)],
  })
  return rows.map(({ userId }) => userId)
}

/** What it cost, by the rate that was in force. Undefined: there was none. `debitMicro`: what it cost, when that is known. */
export async function priceLost(
  { db, config }: Pick<Services, 'db' | 'config'>,
  { amountKobo, createdAt }: Pick<ProviderTransfer, 'amountKobo' | 'createdAt'>,
  debitMicro?: bigint,
): Promise<{ readonly rateId: bigint; readonly price: WithdrawalPrice } | undefined> {
  const [rate] = await query<{ id: bigint; value: bigint }>(db, {
    name: 'adopt.rate',
    text: /* sql */ `
      select id, (value * 100000000)::bigint as value from rates where accepted_at is not null
      order by accepted_at > $1, case when accepted_at > $1 then accepted_at - $1 else $1 - accepted_at end limit 1`,
    values: [createdAt ?? new Date()],
  })
  if (rate === undefined) return undefined
  const price = priceOfNet(amountKobo, rate.value, config.withdrawals)
  return { rateId: rate.id, price: debitMicro === undefined ? price : { ...price, debitMicro } }
}

/**
 * Debits the creator and writes the row again. The payouts worker looks it up, never sends it, and the reconciler follows it as any
 * other. Returns what the creator owes for it, because there was too little.
 */
export async function adoptLost(
  uow: UnitOfWork,
  { config }: Pick<Services, 'config'>,
  { reference, userId, rateId, price, payee }: LostWithdrawal,
): Promise<bigint> {
  const { trx } = uow
  const { debitMicro, grossKobo, feeKobo, netKobo } = price
  let holdTransfer: bigint | undefined
  const debt = { id: `adopted:${reference}`, userId, ref: reference, amountMicro: debitMicro }
  const owedMicro = await spendOwing(trx, debt, async () => {
    holdTransfer = (await reserveHold(trx, { reference, userId, debitMicro })).id
  })
  await write(trx, {
    name: 'adopt.insert',
    text: /* sql */ `
      insert into withdrawals (user_id, reference, currency, rate_id, debit_micro, gross_kobo, fee_kobo, net_kobo, bank_code,
        hold_transfer, account_hash, sealed_account, account_last_four, adopted_at)
      values ($1, $2, 'NGN', $3, $4, $5, $6, $7, $8, $9, $10, $11, right($12, 4), clock_timestamp())`,
    values: [
      userId,
      reference,
      rateId,
      debitMicro,
      grossKobo,
      feeKobo,
      netKobo,
      payee.bankCode,
      holdTransfer,
      accountHash(config, payee),
      sealAccount(config, reference, payee),
      payee.accountNumber,
    ],
  })
  uow.wake('payouts', payoutJob({ reference, sends: 0, replays: 0, ...noOrigin }))
  return owedMicro
}
