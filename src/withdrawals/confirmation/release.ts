import type { Knex } from 'knex'
import { markIdentityVerified } from '../../accounts/change-user.js'
import { sqlList } from '../../kernel/state-machine.js'
import { findLastAcceptedRate } from '../../market/accepted-rates.js'
import type { Asked } from '../../outgoing/guards.js'
import { heldStates } from '../../outgoing/lifecycle.js'
import { logStep, type StepPlace } from '../../outgoing/steps.js'
import type { Config } from '../../platform/config/config.js'
import { query, write } from '../../platform/database/database.js'
import type { UnitOfWork } from '../../platform/database/transact.js'
import { recordWithdrawalEvents } from '../describe-withdrawals.js'
import type { MailSettings } from '../mails.js'
import { priceRelease, type WithdrawalPrice } from '../price-withdrawal.js'
import {
  awaitsConfirmation,
  type LockedWithdrawal,
  lockWithdrawal,
  type Withdrawal,
  withdrawalRow,
} from '../withdrawal.js'
import { failUnpaid, type Unpaid } from '../withdrawal-kind.js'
import { payoutJob } from '../work-queue.js'
import { mailWithdrawalCode } from './code.js'

export interface HeldWithdrawal
  extends Pick<
    Withdrawal,
    | 'id'
    | 'reference'
    | 'sendState'
    | 'debitMicro'
    | 'grossKobo'
    | 'feeKobo'
    | 'netKobo'
    | 'confirmationReason'
    | 'confirmedAt'
  > {}

/** A creator's withdrawals that wait for the identity, oldest first. */
async function listHeld(db: Knex, userId: string): Promise<HeldWithdrawal[]> {
  const held = await listAllHeld(db, userId)
  return held.filter(({ sendState }) => sendState === 'identity_hold')
}

/** Also those that wait for the creator's confirmation only. */
export function listAllHeld(db: Knex, userId: string): Promise<HeldWithdrawal[]> {
  return query<HeldWithdrawal>(db, {
    name: 'identity.held',
    text: /* sql */ `
      select id, reference, send_state as "sendState", debit_micro as "debitMicro", gross_kobo as "grossKobo",
        fee_kobo as "feeKobo", net_kobo as "netKobo", confirmation_reason as "confirmationReason",
        confirmed_at as "confirmedAt"
      from withdrawals
      where user_id = $1 and status = 'pending' and send_state in (${sqlList(heldStates)}) order by created_at, id`,
    values: [userId],
  })
}

export type ReleaseTerms = Pick<Config['withdrawals'], 'leastFeeNgn' | 'feeBps' | 'minNgn'>
/** What releasing needs: the terms, and what mails say. */
export type ReleaseSettings = Pick<Config, 'withdrawals' | 'http' | 'otpPeppers'>

export interface Release {
  readonly reference: string
  readonly netKobo: bigint
  readonly promisedKobo: bigint
  /** Nothing is sent: at the current rate it is below the smallest withdrawal, so the creator gets the money back. */
  readonly givenBack: boolean
  /** Nothing is sent yet: its creator must confirm it first, and it is priced then. */
  readonly awaitsConfirmation: boolean
}

/** A release, and the new price. Undefined: the promise stands. */
interface PricedRelease extends Release {
  readonly price: (NonNullable<ReturnType<typeof priceRelease>> & { readonly rateId: bigint }) | undefined
}

/**
 * Prices a held withdrawal for its release at the last accepted rate, never above the promise (docs/decisions/0016). The
 * caller has read the feed before, outside the transaction.
 */
export async function planRelease(
  db: Knex,
  terms: ReleaseTerms,
  held: HeldWithdrawal,
): Promise<PricedRelease> {
  const { reference } = held
  if (awaitsConfirmation(held)) {
    const { netKobo } = held
    return {
      reference,
      netKobo,
      promisedKobo: netKobo,
      givenBack: false,
      awaitsConfirmation: true,
      price: undefined,
    }
  }
  const rate = await findLastAcceptedRate(db)
  const price = rate && priceRelease(held, rate.value, terms)
  const netKobo = price?.netKobo ?? held.netKobo
  return {
    reference,
    netKobo,
    promisedKobo: held.netKobo,
    givenBack: netKobo < BigInt(terms.minNgn) * 100n,
    awaitsConfirmation: false,
    price: rate && price && { ...price, rateId: rate.id },
  }
}

/**
 * Marks a creator as verified and releases the held withdrawals. Later withdrawals are not held. Returns the released ones.
 * A withdrawal that is created at the same time locks the user's row in share mode, so it either sees the mark or is
 * released here.
 */
export async function verifyIdentity(
  uow: UnitOfWork,
  settings: ReleaseSettings,
  userId: string,
  asked: Asked,
): Promise<Release[]> {
  await markIdentityVerified(uow.trx, userId)
  const released: Release[] = []
  for (const { id } of await listHeld(uow.trx, userId)) {
    const release = await releaseHeld(uow, settings, id, asked)
    if (release !== undefined) released.push(release)
  }
  return released
}

/** Fails the held withdrawals and gives the money back. Returns them. */
export async function refuseIdentity(
  uow: UnitOfWork,
  settings: MailSettings,
  userId: string,
  { reason, asked }: Unpaid,
): Promise<HeldWithdrawal[]> {
  const refused: HeldWithdrawal[] = []
  for (const item of await listHeld(uow.trx, userId)) {
    const withdrawal = await lockHeld(uow, item.id, 'identity_hold')
    if (withdrawal === undefined) continue
    await failUnpaid(uow, settings, withdrawal, { reason, asked })
    refused.push(item)
  }
  return refused
}

/**
 * Releases a withdrawal that waits for the identity: to be sent, or to wait for its creator's confirmation, for which a new
 * code is mailed. Undefined when it does not wait for the identity any more.
 */
export async function releaseHeld(
  uow: UnitOfWork,
  settings: ReleaseSettings,
  id: string,
  asked: Asked,
): Promise<Release | undefined> {
  const withdrawal = await lockHeld(uow, id, 'identity_hold')
  if (withdrawal === undefined) return undefined
  if (!awaitsConfirmation(withdrawal)) return releaseToSend(uow, settings, withdrawal, asked)
  const { price, ...release } = await planRelease(uow.trx, settings.withdrawals, withdrawal)
  await waitForConfirmation(uow, withdrawal)
  await mailWithdrawalCode(uow, settings, withdrawal)
  return release
}

/** Releases a withdrawal whose creator has confirmed it. Undefined when it waits for the identity, or for nothing any more. */
export async function releaseConfirmed(
  uow: UnitOfWork,
  settings: ReleaseSettings,
  id: string,
  asked: Asked,
): Promise<Release | undefined> {
  const withdrawal = await lockHeld(uow, id, 'confirmation_hold')
  return withdrawal === undefined || awaitsConfirmation(withdrawal)
    ? undefined
    : releaseToSend(uow, settings, withdrawal, asked)
}

/** Locks a withdrawal that still waits in this state. */
async function lockHeld(
  uow: UnitOfWork,
  id: string,
  state: 'identity_hold' | 'confirmation_hold',
): Promise<LockedWithdrawal | undefined> {
  const withdrawal = await lockWithdrawal(uow, id)
  return withdrawal?.status === 'pending' && withdrawal.sendState === state ? withdrawal : undefined
}

/**
 * Makes a held withdrawal due to be sent, priced again at the current rate. One that is worth too little now fails, and the
 * creator gets the money back.
 */
async function releaseToSend(
  uow: UnitOfWork,
  settings: ReleaseSettings,
  withdrawal: LockedWithdrawal,
  asked: Asked,
): Promise<Release> {
  const { price, ...release } = await planRelease(uow.trx, settings.withdrawals, withdrawal)
  if (release.givenBack) {
    const reason = 'Below the smallest withdrawal at the current rate'
    await failUnpaid(uow, settings, withdrawal, { reason, asked })
    return release
  }
  await leaveHold(uow, withdrawal, price)
  uow.wake('payouts', payoutJob({ ...withdrawal, sends: 0, replays: 0 }))
  return release
}

// The steps out of a hold. All others are in src/outgoing/steps.ts.

/** The identity is verified, or an operator has released it: now its creator confirms it. */
async function waitForConfirmation(uow: UnitOfWork, withdrawal: LockedWithdrawal): Promise<void> {
  await write(uow.trx, {
    name: 'identity.confirm-next',
    text: `update withdrawals set send_state = 'confirmation_hold' where id = $1 and send_state = 'identity_hold'`,
    values: [withdrawal.id],
  })
  logStep(uow, withdrawalRow, withdrawal, 'confirmation_hold')
  recordWithdrawalEvents(uow, { ...withdrawal, sendState: 'confirmation_hold' }, ['held'])
}

/** It may be sent. `price`: less than was promised, at the rate of now; undefined: the promise stands. */
async function leaveHold(
  uow: UnitOfWork,
  withdrawal: LockedWithdrawal,
  price: (Omit<WithdrawalPrice, 'debitMicro'> & { readonly rateId: bigint }) | undefined,
): Promise<void> {
  await write(uow.trx, {
    name: 'held.release',
    text: /* sql */ `
      update withdrawals set send_state = 'not_sent', due_at = clock_timestamp(), rate_id = coalesce($2, rate_id),
        gross_kobo = coalesce($3, gross_kobo), fee_kobo = coalesce($4, fee_kobo), net_kobo = coalesce($5, net_kobo),
        promised_kobo = case when $5::bigint is null then promised_kobo else net_kobo end
      where id = $1 and status = 'pending' and send_state in (${sqlList(heldStates)})`,
    values: [
      withdrawal.id,
      price?.rateId ?? null,
      price?.grossKobo ?? null,
      price?.feeKobo ?? null,
      price?.netKobo ?? null,
    ],
  })
  logStep(uow, withdrawalRow, withdrawal, 'not_sent')
}

/** The provider has it: it is looked up, and never sent. False: it is not held any more. */
export async function adoptHeld(
  { trx }: Pick<StepPlace, 'trx'>,
  { id }: Pick<LockedWithdrawal, 'id'>,
): Promise<boolean> {
  const rows = await query(trx, {
    name: 'payouts.adopt-held',
    text: /* sql */ `
      update withdrawals set send_state = 'not_sent', adopted_at = clock_timestamp(), due_at = clock_timestamp(),
        confirmed_at = case when confirmation_reason is not null then coalesce(confirmed_at, clock_timestamp()) end
      where id = $1 and status = 'pending' and send_state in (${sqlList(heldStates)}) returning 1`,
    values: [id],
  })
  return rows.length > 0
}
