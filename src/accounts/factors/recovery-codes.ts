import { randomInt } from 'node:crypto'
import type { Knex } from 'knex'
import { keyedHash } from '../../kernel/personal-data.js'
import type { Config } from '../../platform/config/config.js'
import { query, write } from '../../platform/database/database.js'

const recoveryCodeCount = 10
/** 24 of 32 characters: 120 bits, so a keyed hash suffices and nobody can guess one. Easily mistaken characters are left out. */
const alphabet = 'abcdefghijkmnpqrstuvwxyz23456789'
const groups = 4
const groupLength = 6
const codeForm = new RegExp(`^[${alphabet}]{${groups * groupLength}}$`)

/** Such as `k7tqm3-abcdef-…`: four groups of six. */
function newRecoveryCode(): string {
  const group = () =>
    Array.from({ length: groupLength }, () => alphabet.charAt(randomInt(alphabet.length))).join('')
  return Array.from({ length: groups }, group).join('-')
}

/** The recovery code in a text, however it is grouped and whatever its case; undefined for any other text. */
export function parseRecoveryCode(text: string): string | undefined {
  const code = text.toLowerCase().replaceAll(/[\s-]/g, '')
  return codeForm.test(code) ? code : undefined
}

/** The stored form. The key keeps a reader of the table from checking codes. */
function storedForm({ dataKeys }: Pick<Config, 'dataKeys'>, userId: string, code: string): Buffer {
  return keyedHash(dataKeys, 'recovery-code/1', `${userId}|${code}`)
}

/** Makes ten codes in place of the account's earlier ones. They are shown this once. */
export async function replaceRecoveryCodes(
  trx: Knex.Transaction,
  config: Pick<Config, 'dataKeys'>,
  userId: string,
): Promise<string[]> {
  const codes = Array.from({ length: recoveryCodeCount }, newRecoveryCode)
  await deleteRecoveryCodes(trx, userId)
  await write(trx, {
    name: 'recovery.create',
    text: 'insert into recovery_codes (user_id, code_hmac) select $1, unnest($2::bytea[])',
    values: [userId, codes.map((code) => storedForm(config, userId, code.replaceAll('-', '')))],
  })
  return codes
}

export async function deleteRecoveryCodes(trx: Knex.Transaction, userId: string): Promise<void> {
  await write(trx, {
    name: 'recovery.delete',
    text: 'delete from recovery_codes where user_id = $1',
    values: [userId],
  })
}

/** Uses a code, as `parseRecoveryCode` gives it. Returns false for one that is wrong or used. */
export async function useRecoveryCode(
  trx: Knex.Transaction,
  config: Pick<Config, 'dataKeys'>,
  userId: string,
  code: string,
): Promise<boolean> {
  const used = await query(trx, {
    name: 'recovery.use',
    text: /* sql */ `
      update recovery_codes set used_at = clock_timestamp()
       where user_id = $1 and code_hmac = $2 and used_at is null returning 1`,
    values: [userId, storedForm(config, userId, code)],
  })
  return used.length === 1
}
