import type { Knex } from 'knex'
import { createSealer } from '../../kernel/personal-data.js'
import type { Config } from '../../platform/config/config.js'
import { query } from '../../platform/database/database.js'
import { type SealedColumn, sealedBatchSize } from '../../platform/database/sealed-column.js'
import { clearTotpAttempts, countTotpAttempt, forgetAttempt } from '../secrets/attempts.js'
import { countsFor, type FactorAge, type FactorOutcome, type FactorRule } from './factor-rules.js'
import { parseRecoveryCode, useRecoveryCode } from './recovery-codes.js'
import { findStep, parseTotpCode } from './totp.js'

type Needs = Pick<Config, 'dataKeys'>

const wrong: FactorOutcome = { kind: 'wrong', field: 'totp' }
const young: FactorOutcome = { kind: 'young', field: 'totp' }

/**
 * Verifies a code of the authenticator app or a recovery code, and uses it. Wrong codes of the app are counted in this
 * transaction, so the caller throws after the commit. Recovery codes cannot be guessed and are not locked: whoever knows the
 * password and enters wrong codes does not keep the owner out.
 */
export async function verifyCode(
  trx: Knex.Transaction,
  config: Needs,
  userId: string,
  { totp: text, rule = {} }: { readonly totp: string; readonly rule?: FactorRule },
): Promise<FactorOutcome> {
  const code = parseTotpCode(text)
  if (code !== undefined) return verifyTotp(trx, config, userId, code, rule)
  const recovery = parseRecoveryCode(text)
  if (recovery === undefined) return wrong
  if (rule.olderThanHours !== undefined) return young
  return (await useRecoveryCode(trx, config, userId, recovery)) ? { kind: 'right' } : wrong
}

/** A used code, presented again (a double click), is refused but not counted as a failed attempt. */
async function verifyTotp(
  trx: Knex.Transaction,
  config: Needs,
  userId: string,
  code: string,
  rule: FactorRule,
): Promise<FactorOutcome> {
  const attempt = await countTotpAttempt(trx, userId)
  if (attempt.kind === 'locked') return attempt
  const factor = await findTotp(trx, userId)
  if (factor === undefined) return wrong
  const step = findStep(openTotpSecret(config, userId, factor.sealedSecret), code, factor.now)
  if (step === undefined) return wrong
  if (!countsFor(factor, rule)) {
    await forgetAttempt(trx, userId, 'totp')
    return young
  }
  if (!(await useStep(trx, userId, step))) {
    await forgetAttempt(trx, userId, 'totp')
    return wrong
  }
  await clearTotpAttempts(trx, userId)
  return { kind: 'right' }
}

interface Totp extends FactorAge {
  readonly sealedSecret: Buffer
  /** Seconds since 1970, by the database's clock. */
  readonly now: number
}

async function findTotp(trx: Knex.Transaction, userId: string): Promise<Totp | undefined> {
  const [found] = await query<Totp>(trx, {
    name: 'totp.find',
    text: /* sql */ `
      select sealed_secret as "sealedSecret", confirmed_at as since,
             extract(epoch from clock_timestamp() - confirmed_at)::float8 / 3600 as "ageHours",
             extract(epoch from clock_timestamp())::float8 as now
        from totp_factors where user_id = $1 and confirmed_at is not null`,
    values: [userId],
  })
  return found
}

/** Marks a step as used. Returns false when this or a later one was used before. */
async function useStep(trx: Knex.Transaction, userId: string, step: number): Promise<boolean> {
  const used = await query(trx, {
    name: 'totp.use',
    text: /* sql */ `
      update totp_factors set last_step = $2
       where user_id = $1 and confirmed_at is not null and (last_step is null or last_step < $2) returning 1`,
    values: [userId, step],
  })
  return used.length === 1
}

const purpose = 'totp/1'

export const sealedTotpSecrets: SealedColumn = {
  table: 'totp_factors',
  column: 'sealed_secret',
  id: 'user_id',
  idType: 'uuid',
  purpose,
  context: 'user_id::text',
  batchSize: sealedBatchSize,
}

/** The account is the context: a secret copied to another account does not open. */
export function sealTotpSecret({ dataKeys }: Needs, userId: string, secret: Uint8Array): Buffer {
  return createSealer(dataKeys, purpose).seal(secret, userId)
}

export function openTotpSecret({ dataKeys }: Needs, userId: string, sealed: Uint8Array): Buffer {
  return createSealer(dataKeys, purpose).open(sealed, userId)
}
