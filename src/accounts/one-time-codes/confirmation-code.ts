import { createHmac } from 'node:crypto'
import { type DomainError, refusedFor } from '../../kernel/errors.js'
import type { Config } from '../../platform/config/config.js'
import { query } from '../../platform/database/database.js'
import type { UnitOfWork } from '../../platform/database/transact.js'
import { codePattern, confirmationCodes, newCode, sameCode } from './one-time-code.js'

/** A table of mailed codes that confirm something (docs/decisions/0057). */
export interface CodeTable {
  readonly table: 'step_up_codes' | 'withdrawal_codes'
  /** The column that says what a code confirms. Only the newest code of one value counts. */
  readonly subject: 'request_hash' | 'withdrawal_id'
}

/** What a code confirms. */
export interface ConfirmedSubject {
  readonly userId: string
  readonly subject: string | Buffer
  /** All that the code is bound to. A code of one text does not confirm another. */
  readonly bound: string
}

export interface NewConfirmationCode {
  readonly code: string
  readonly expiresAt: Date
}

type Settings = Pick<Config, 'otpPeppers'>

function codeHmac(pepper: Uint8Array, bound: string, code: string): Buffer {
  return createHmac('sha256', pepper).update(`${bound}|${code}`).digest()
}

/** The codes of the last 24 hours. */
const recent = `created_at >= clock_timestamp() - interval '24 hours'`

/**
 * Makes a code, which replaces the one before for the same subject. Undefined: the account has had ten in the last 24 hours. The
 * caller holds the lock of the user, so that none is missed in the count.
 */
export async function createConfirmationCode(
  { trx }: UnitOfWork,
  { otpPeppers: [pepper] }: Settings,
  { table, subject: column }: CodeTable,
  { userId, subject, bound }: ConfirmedSubject,
): Promise<NewConfirmationCode | undefined> {
  const code = newCode()
  const [made] = await query<{ expiresAt: Date }>(trx, {
    name: `${table}.create`,
    text: /* sql */ `
      with old as (delete from ${table} where user_id = $1 and not ${recent})
      insert into ${table} (user_id, ${column}, code_hmac, expires_at)
      select $1, $2, $3, clock_timestamp() + $4::int * interval '1 minute'
       where $5 > (select count(*) from ${table} where user_id = $1 and ${recent})
      returning expires_at as "expiresAt"`,
    values: [
      userId,
      subject,
      codeHmac(pepper, bound, code),
      confirmationCodes.minutes,
      confirmationCodes.mostADay,
    ],
  })
  return made && { code, expiresAt: made.expiresAt }
}

/** The refusal of another code. It says when the account may have one. */
export async function tooManyCodes(
  { trx }: UnitOfWork,
  { table }: CodeTable,
  userId: string,
): Promise<DomainError> {
  const [row] = await query<{ seconds: number }>(trx, {
    name: `${table}.next`,
    text: /* sql */ `
      select greatest(1, ceil(extract(epoch from min(created_at) + interval '24 hours' - clock_timestamp())))::int as seconds
      from ${table} where user_id = $1 and ${recent}`,
    values: [userId],
  })
  return refusedFor('too_many_requests', row?.seconds ?? 1)
}

/**
 * Uses the newest code of a subject up. A wrong one counts before it is compared, and five void the code. The caller commits the
 * count, and does what the code confirms in the same transaction.
 */
export async function useConfirmationCode(
  { trx }: UnitOfWork,
  { otpPeppers }: Settings,
  { table, subject: column }: CodeTable,
  { userId, subject, bound }: ConfirmedSubject,
  code: string,
): Promise<boolean> {
  if (!codePattern.test(code)) return false
  const [newest] = await query<{ id: bigint; codeHmac: Buffer }>(trx, {
    name: `${table}.count`,
    text: /* sql */ `
      update ${table} set failures = failures + 1
       where id = (select max(id) from ${table} where user_id = $1 and ${column} = $2)
         and failures < $3 and used_at is null and expires_at > clock_timestamp()
      returning id, code_hmac as "codeHmac"`,
    values: [userId, subject, confirmationCodes.mostFailures],
  })
  const isRight = (pepper: Uint8Array) => sameCode(newest?.codeHmac ?? null, codeHmac(pepper, bound, code))
  if (newest === undefined || !otpPeppers.some(isRight)) return false
  await query(trx, {
    name: `${table}.use`,
    text: `update ${table} set used_at = clock_timestamp() where id = $1`,
    values: [newest.id],
  })
  return true
}
