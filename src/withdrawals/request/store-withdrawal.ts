import { cautionHours, hasFactor } from '../../accounts/protection.js'
import { namedOrigin, type Origin } from '../../kernel/trace-context.js'
import type { SendState } from '../../outgoing/lifecycle.js'
import { query, write } from '../../platform/database/database.js'
import { type KeyedRequest, keyHours } from '../../platform/database/idempotency-keys.js'
import type { UnitOfWork } from '../../platform/database/transact.js'
import type { Services } from '../../services.js'
import { resolvedContext, sealAccount, sealName } from '../bank-account.js'
import { mailWithdrawalCode, tooManyWithdrawalCodes } from '../confirmation/code.js'
import { reasonToConfirm, usePayee } from '../confirmation/payees.js'
import { recordWithdrawalEvents } from '../describe-withdrawals.js'
import { reserveHold } from '../ledger-entries.js'
import { mailCreator } from '../mails.js'
import type { WithdrawalPrice } from '../price-withdrawal.js'
import { type ConfirmationReason, type Withdrawal, withdrawalColumns } from '../withdrawal.js'
import { payoutJob } from '../work-queue.js'
import { exceedsLimits, lockSharedPayee, readIdentity, requestIdentity } from './identity-hold.js'

export interface NewWithdrawal extends WithdrawalPrice {
  readonly userId: string
  readonly reference: string
  readonly currency: 'USDC' | 'NGN'
  readonly rateId: bigint
  readonly bankCode: string
  readonly accountNumber: string
  readonly accountName: string
  readonly accountHash: Buffer
  /** Keyed hash of the name of the account's holder, and that name at the bank. Null: not asked for, or not known. */
  readonly nameHash: Buffer | null
  readonly resolvedName: string | null
  /** Who asks for it: the client network, the device, the session, and the seconds since that was opened. */
  readonly network: string
  readonly deviceHash: Buffer
  readonly sessionHash: Buffer
  readonly sessionAge: number
  readonly keyedRequest: KeyedRequest | undefined
  readonly origin: Origin
}

/** Another request with the same key has created its withdrawal meanwhile. */
export class KeyTaken extends Error {
  override name = 'KeyTaken'
}

/**
 * Reserves the money and inserts the withdrawal in one transaction, and decides whether it waits for the creator's identity,
 * confirmation, or both. The lock on the creator's ledger account runs a creator's withdrawals one after the other, and the locks
 * before it those to one account or name where these are limited. Throws
 * `insufficient_balance`, `account_frozen`, `unauthorized`, KeyTaken, and `too_many_requests` when nothing could confirm it: the account has
 * had its codes of the day and has no factor that counts.
 */
export async function storeWithdrawal(
  uow: UnitOfWork,
  { config }: Pick<Services, 'config'>,
  withdrawal: NewWithdrawal,
): Promise<Withdrawal> {
  const { trx } = uow
  const identity = await readIdentity(trx, withdrawal)
  if (!identity.verified) await lockSharedPayee(trx, withdrawal, config.withdrawals)
  const hold = await reserveHold(trx, withdrawal)
  const payee = await usePayee(trx, config, withdrawal)
  const asks = await whatAsks(trx, config, withdrawal)
  const confirmationReason = reasonToConfirm(asks, payee, withdrawal.sessionAge)
  const waitsForIdentity =
    !identity.verified &&
    (await exceedsLimits(trx, { ...identity, ...payee }, withdrawal, config.withdrawals))
  if (withdrawal.keyedRequest !== undefined) await releaseOldKey(uow, withdrawal.keyedRequest)
  const sendState = firstState(waitsForIdentity, confirmationReason)
  const stored = await insert(uow, config, withdrawal, {
    holdTransfer: hold.id,
    sendState,
    confirmationReason,
  })
  const { reference, status } = stored
  uow.log({ reference, ...namedOrigin(stored), status, sendState }, 'a withdrawal was requested')
  if (sendState !== 'not_sent') recordWithdrawalEvents(uow, stored, ['held'])
  if (waitsForIdentity) {
    const site = new URL(config.http.publicUrl).host
    await requestIdentity(uow, identity.email, { ...withdrawal, site })
  }
  const events = [
    ...(payee.added ? [{ kind: 'payee-added' } as const] : []),
    { kind: 'withdrawal-requested' } as const,
  ]
  await mailCreator(uow, config, { ...stored, ...payee }, events)
  // Also while it waits for the identity: its creator may confirm it meanwhile.
  if (confirmationReason !== null) {
    const mailed = await mailWithdrawalCode(uow, config, { ...stored, accountHash: withdrawal.accountHash })
    // One that waits for the identity gets a code after it.
    if (!mailed && !waitsForIdentity && !(await hasFactor(trx, withdrawal.userId, cautionHours)))
      throw await tooManyWithdrawalCodes(uow, withdrawal.userId)
  }
  if (sendState === 'not_sent') uow.wake('payouts', payoutJob(stored))
  return stored
}

/** A factor that the owner has set up guards the account in any case. */
async function whatAsks(
  trx: UnitOfWork['trx'],
  { withdrawals: { confirmAccounts } }: Services['config'],
  { userId }: NewWithdrawal,
): Promise<Services['config']['withdrawals']['confirmAccounts']> {
  return confirmAccounts === 'off' && (await hasFactor(trx, userId)) ? 'new' : confirmAccounts
}

/** The identity comes first when both are due. */
function firstState(waitsForIdentity: boolean, confirmationReason: ConfirmationReason | null): SendState {
  if (waitsForIdentity) return 'identity_hold'
  return confirmationReason === null ? 'not_sent' : 'confirmation_hold'
}

async function insert(
  { trx }: UnitOfWork,
  config: Services['config'],
  withdrawal: NewWithdrawal,
  {
    holdTransfer,
    sendState,
    confirmationReason,
  }: Pick<Withdrawal, 'sendState' | 'confirmationReason'> & { readonly holdTransfer: bigint },
): Promise<Withdrawal> {
  const [row] = await query<Withdrawal>(trx, {
    name: 'payouts.insert',
    text: /* sql */ `
      insert into withdrawals as w (user_id, reference, currency, rate_id, debit_micro, gross_kobo, fee_kobo, net_kobo,
        bank_code, hold_transfer, key_hash, request_hash, send_state, due_at,
        confirmation_reason, account_hash, client_network, device_hash, sealed_account, account_last_four,
        name_hash, sealed_resolved_name, request_id, trace_id)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, case when $13 = 'not_sent' then clock_timestamp() end,
        $14, $15, $16, $17, $18, $19, $20, $21, $22, $23)
      on conflict (key_hash) where key_hash is not null do nothing returning ${withdrawalColumns}`,
    values: [
      withdrawal.userId,
      withdrawal.reference,
      withdrawal.currency,
      withdrawal.rateId,
      withdrawal.debitMicro,
      withdrawal.grossKobo,
      withdrawal.feeKobo,
      withdrawal.netKobo,
      withdrawal.bankCode,
      holdTransfer,
      withdrawal.keyedRequest?.keyHash ?? null,
      withdrawal.keyedRequest?.requestHash ?? null,
      sendState,
      confirmationReason,
      withdrawal.accountHash,
      withdrawal.network,
      withdrawal.deviceHash,
      sealAccount(config, withdrawal.reference, withdrawal),
      withdrawal.accountNumber.slice(-4),
      withdrawal.nameHash,
      withdrawal.resolvedName === null
        ? null
        : sealName(config, resolvedContext(withdrawal.reference), withdrawal.resolvedName),
      withdrawal.origin.requestId,
      withdrawal.origin.traceId,
    ],
  })
  if (row === undefined) throw new KeyTaken()
  return row
}

async function releaseOldKey({ trx }: UnitOfWork, { keyHash }: KeyedRequest): Promise<void> {
  await write(trx, {
    name: 'payouts.release-key',
    text: /* sql */ `
      update withdrawals set key_hash = null, request_hash = null
      where key_hash = $1 and created_at < clock_timestamp() - $2 * interval '1 hour'`,
    values: [keyHash, keyHours],
  })
}

export interface StoredWithdrawal extends Withdrawal {
  /** Whether this request equals the one that created it. Null without a key. */
  readonly sameRequest: boolean | null
}

/** Finds a withdrawal by its reference, or by the key of its request in the last 24 hours. */
export async function findStored(
  { db }: Pick<Services, 'db'>,
  {
    reference,
    keyedRequest,
  }: { readonly reference?: string; readonly keyedRequest?: KeyedRequest | undefined },
): Promise<StoredWithdrawal | undefined> {
  const [row] = await query<StoredWithdrawal>(db, {
    name: 'payouts.stored',
    text: /* sql */ `
      select ${withdrawalColumns}, w.request_hash = $3 as "sameRequest" from withdrawals w
      where w.reference = $1
         or w.key_hash = $2 and w.created_at > clock_timestamp() - $4 * interval '1 hour'
      limit 1`,
    values: [reference ?? null, keyedRequest?.keyHash ?? null, keyedRequest?.requestHash ?? null, keyHours],
  })
  return row
}
