import { createHmac, randomInt, timingSafeEqual } from 'node:crypto'
import type { Knex } from 'knex'
import { type DomainError, refusedFor } from '../../kernel/errors.js'
import type { Config } from '../../platform/config/config.js'
import { query, write } from '../../platform/database/database.js'
import type { UnitOfWork } from '../../platform/database/transact.js'
import { countAttempt } from './attempts.js'
import { purposes, secondsToNext, storeSecret } from './secrets.js'

/** API: a code is six digits. */
export const codePattern = /^[0-9]{6}$/
const codes = 1_000_000

type Settings = Pick<Config, 'otpPeppers'>

export interface NewCode {
  readonly code: string
  readonly expiresAt: Date
}

/** A random code of six digits. All codes are equally likely. */
function newCode(): string {
  return String(randomInt(codes)).padStart(6, '0')
}

/**
 * The stored form of a code. The key (pepper) is not in the database, and prevents a reader of the table from trying all million
 * codes. A code that is bound to one text is not good for another.
 */
export function codeHmac(pepper: Uint8Array, bound: string, code: string): Buffer {
  return createHmac('sha256', pepper).update(`${bound}|${code}`).digest()
}

/** Compares a code with a stored form, in constant time. While the pepper changes there are two. */
function isCode({ otpPeppers }: Settings, hash: Buffer, bound: string, code: string): boolean {
  return otpPeppers.some((pepper) => timingSafeEqual(hash, codeHmac(pepper, bound, code)))
}

/** What a code that signs in is bound to: equal codes of two users differ. */
export const signInBound = (userId: string): string => `otp/1|${userId}`

/**
 * Makes a code that signs in. It replaces the one before. Undefined while the account's codes are locked. The row of the attempts
 * stays locked until the transaction ends: what is mailed last is the newest.
 */
export async function createSignInCode(
  trx: Knex.Transaction,
  { otpPeppers: [pepper] }: Settings,
  userId: string,
): Promise<NewCode | undefined> {
  const code = newCode()
  const [made] = await query<{ expiresAt: Date }>(trx, {
    name: 'otp.start',
    text: /* sql */ `
      with unlocked as (
        insert into code_attempts as a (user_id, kind) values ($1, 'sign_in_code')
        on conflict (user_id, kind) do update set failed_at = a.failed_at
         where a.locked_until is null or a.locked_until <= clock_timestamp()
        returning 1)
      insert into one_time_secrets (purpose, user_id, hash, expires_at)
      select 'sign_in_code', $1, $2, clock_timestamp() + $3::int * interval '1 minute' from unlocked
      returning expires_at as "expiresAt"`,
    values: [userId, codeHmac(pepper, signInBound(userId), code), purposes.sign_in_code.minutes],
  })
  return made && { code, expiresAt: made.expiresAt }
}

interface NewestCode {
  /** Null: there is none. */
  readonly id: bigint | null
  readonly hash: Buffer
  readonly expired: boolean
  readonly used: boolean
  readonly locks: boolean
}

/** What comes of an attempt. `locks`: it is wrong, and from now on the codes are locked. The code that was right is used up by its id. */
export type SignInAttempt = 'wrong' | 'locks' | 'used' | 'locked' | { readonly id: bigint }

/**
 * Counts an attempt as failed, then compares it with the account's newest code. Both rows stay locked until the transaction ends.
 */
export async function trySignInCode(
  trx: Knex.Transaction,
  settings: Settings,
  userId: string,
  code: string,
): Promise<SignInAttempt> {
  const [newest] = await query<NewestCode>(trx, {
    name: 'otp.count',
    // The lock reads the row as it is once the attempt before has ended.
    text: /* sql */ `
      with counted as (${countAttempt}),
      newest as (
        select id, hash, expires_at <= clock_timestamp() as expired, used_at is not null as used
          from one_time_secrets, counted
         where id = (select max(id) from one_time_secrets where user_id = $1 and purpose = $2)
           for update of one_time_secrets)
      select id, hash, expired, used, locks from counted left join newest on true`,
    values: [userId, 'sign_in_code'],
  })
  if (newest === undefined) return 'locked'
  const { id, hash, expired, used, locks } = newest
  if (id === null || expired || !isCode(settings, hash, signInBound(userId), code))
    return locks ? 'locks' : 'wrong'
  return used ? 'used' : { id }
}

/** Marks a code that was right as used, and clears the failed attempts. */
export async function useSignInCode(trx: Knex.Transaction, userId: string, id: bigint): Promise<void> {
  await write(trx, {
    name: 'otp.use',
    text: /* sql */ `
      with cleared as (
        update code_attempts set failed_at = '{}', locked_until = null where user_id = $1 and kind = 'sign_in_code')
      update one_time_secrets set used_at = clock_timestamp() where id = $2`,
    values: [userId, id],
  })
}

/** Voids the code and the link that were mailed to sign in. Failed attempts and a lock stay, and no link is mailed sooner. */
export async function voidSignIn(trx: Knex.Transaction, userId: string): Promise<void> {
  await write(trx, {
    name: 'otp.void',
    text: /* sql */ `
      update one_time_secrets set expires_at = clock_timestamp()
       where user_id = $1 and purpose in ('sign_in_code', 'sign_in_link') and expires_at > clock_timestamp()`,
    values: [userId],
  })
}

/** What a code confirms. Only the newest code of one subject counts (docs/decisions/0057). */
export interface Confirmed {
  readonly purpose: 'step_up' | 'withdrawal'
  readonly userId: string
  readonly subject: string
  /** All that the code is bound to. */
  readonly bound: string
}

/**
 * Makes a code, which replaces the one before for the same subject. Undefined: the account has had ten in the last 24 hours. The
 * caller holds the lock of the user, so that none is missed in the count.
 */
export async function createConfirmationCode(
  { trx }: UnitOfWork,
  { otpPeppers: [pepper] }: Settings,
  { purpose, userId, subject, bound }: Confirmed,
): Promise<NewCode | undefined> {
  const code = newCode()
  const expiresAt = await storeSecret(trx, purpose, { userId, subject, hash: codeHmac(pepper, bound, code) })
  return expiresAt && { code, expiresAt }
}

/** The refusal of another code. It says when the account may have one. */
export async function tooManyCodes(
  { trx }: UnitOfWork,
  purpose: Confirmed['purpose'],
  userId: string,
): Promise<DomainError> {
  return refusedFor('too_many_requests', (await secondsToNext(trx, purpose, userId)) || 1)
}

/**
 * Uses the newest code of a subject up. A wrong one counts before it is compared, and five void the code. The caller commits the
 * count, and does what the code confirms in the same transaction.
 */
export async function useConfirmationCode(
  { trx }: UnitOfWork,
  settings: Settings,
  { purpose, userId, subject, bound }: Confirmed,
  code: string,
): Promise<boolean> {
  if (!codePattern.test(code)) return false
  const [newest] = await query<{ id: bigint; hash: Buffer }>(trx, {
    name: 'codes.count',
    text: /* sql */ `
      update one_time_secrets set failures = failures + 1
       where id = (select max(id) from one_time_secrets where user_id = $1 and purpose = $2 and subject = $3)
         and failures < $4 and used_at is null and expires_at > clock_timestamp()
      returning id, hash`,
    values: [userId, purpose, subject, purposes[purpose].failures],
  })
  if (newest === undefined || !isCode(settings, newest.hash, bound, code)) return false
  await write(trx, {
    name: 'codes.use',
    text: 'update one_time_secrets set used_at = clock_timestamp() where id = $1',
    values: [newest.id],
  })
  return true
}
