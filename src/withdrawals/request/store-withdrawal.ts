import { query } from '../../platform/database/database.js'
import type { KeyedRequest } from '../../platform/database/idempotency-keys.js'
import type { UnitOfWork } from '../../platform/database/transact.js'
import type { Services } from '../../services.js'
import { reserveHold } from '../ledger-entries.js'
import type { WithdrawalPrice } from '../price-withdrawal.js'
import { payoutJob } from '../reconcile/reconcile-payouts.js'
import { type Withdrawal, withdrawalColumns } from '../withdrawal.js'
import { askForIdentity, exceedsLimits, readHolder } from './identity-hold.js'

/** A withdrawal about to be made. */
export interface NewWithdrawal extends WithdrawalPrice {
  readonly userId: string
  readonly reference: string
  readonly currency: 'USDC' | 'NGN'
  readonly rateId: bigint
  readonly bankCode: string
  readonly accountNumber: string
  readonly accountName: string
  /** The caller's Idempotency-Key, if there is one. */
  readonly claim: KeyedRequest | undefined
}

/** How long a key keeps standing for one withdrawal, as for every other answer. */
const keptHours = 24

/** Another request with the same key has made its withdrawal meanwhile. */
export class KeyTaken extends Error {
  override name = 'KeyTaken'
}

/**
 * Holds the money and writes the withdrawal down, in one transaction; also whether it waits for the creator's identity. The
 * ledger's lock puts a creator's withdrawals in order. Throws `insufficient_balance`, KeyTaken.
 */
export async function storeWithdrawal(
  uow: UnitOfWork,
  { config }: Pick<Services, 'config'>,
  wanted: NewWithdrawal,
): Promise<void> {
  const { trx } = uow
  const holder = await readHolder(trx, wanted.userId)
  const hold = await reserveHold(trx, wanted)
  const waits =
    !holder.verified && (await exceedsLimits(trx, wanted.userId, wanted.grossKobo, config.withdrawals))
  if (wanted.claim !== undefined) await freeOldKey(uow, wanted.claim)
  await insert(uow, wanted, hold.id, waits)
  if (!waits) {
    uow.wake('payouts', payoutJob(wanted.reference, 0))
    return
  }
  const site = new URL(config.http.publicUrl).host
  await askForIdentity(uow, holder.email, { ...wanted, site })
}

async function insert(
  { trx }: UnitOfWork,
  wanted: NewWithdrawal,
  hold: bigint,
  waits: boolean,
): Promise<void> {
  const rows = await query(trx, {
    name: 'payouts.insert',
    text: /* sql */ `
      insert into withdrawals (user_id, reference, currency, rate_id, debit_micro, gross_kobo, fee_kobo, net_kobo,
        bank_code, account_number, account_name, hold_transfer, key_hash, request_hash, send_state, due_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15,
        case when $15 = 'not_sent' then clock_timestamp() end)
      on conflict (key_hash) do nothing returning id`,
    values: [
      wanted.userId,
      wanted.reference,
      wanted.currency,
      wanted.rateId,
      wanted.debitMicro,
      wanted.grossKobo,
      wanted.feeKobo,
      wanted.netKobo,
      wanted.bankCode,
      wanted.accountNumber,
      wanted.accountName,
      hold,
      wanted.claim?.keyHash ?? null,
      wanted.claim?.requestHash ?? null,
      waits ? 'identity_hold' : 'not_sent',
    ],
  })
  if (rows.length === 0) throw new KeyTaken()
}

async function freeOldKey({ trx }: UnitOfWork, { keyHash }: KeyedRequest): Promise<void> {
  await query(trx, {
    name: 'payouts.free-key',
    text: /* sql */ `
      update withdrawals set key_hash = null, request_hash = null
      where key_hash = $1 and created_at < clock_timestamp() - $2 * interval '1 hour'`,
    values: [keyHash, keptHours],
  })
}

export interface KeptWithdrawal extends Withdrawal {
  /** Whether the request was the same that made it; null without a key. */
  readonly sameRequest: boolean | null
}

/** The withdrawal that was made with a key in the last 24 hours, or under a reference. */
export async function findStored(
  { db }: Pick<Services, 'db'>,
  { reference, claim }: { readonly reference?: string; readonly claim?: KeyedRequest | undefined },
): Promise<KeptWithdrawal | undefined> {
  const [row] = await query<KeptWithdrawal>(db, {
    name: 'payouts.stored',
    text: /* sql */ `
      select ${withdrawalColumns}, w.request_hash = $3 as "sameRequest" from withdrawals w
      where w.reference = $1
         or w.key_hash = $2 and w.created_at > clock_timestamp() - $4 * interval '1 hour'
      limit 1`,
    values: [reference ?? null, claim?.keyHash ?? null, claim?.requestHash ?? null, keptHours],
  })
  return row
}
