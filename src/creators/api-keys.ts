import { randomBytes } from 'node:crypto'
import type { Knex } from 'knex'
import { type AccountNotice, notifyOwner, type Origin, warning } from '../accounts/notify-owner.js'
import { youngWhenFrozen } from '../accounts/protection.js'
import { DomainError, inputError } from '../kernel/errors.js'
import { hashSecret, newSecret } from '../kernel/ids.js'
import { quoteInMail } from '../mail/layout.js'
import type { Config } from '../platform/config/config.js'
import { databaseTime } from '../platform/database/base-model.js'
import { query } from '../platform/database/database.js'
import type { Services } from '../services.js'
import { lockCreator } from './find-creator.js'
import { ApiKey } from './models.js'

/** API: the number of open (not revoked) keys that a creator may have. */
const mostOpen = 20
const prefixBytes = 8
/** `last_used_at` is updated at most this often, so that most requests write nothing. */
const lastUsedEverySeconds = 60

/** `tk_<mode>_<prefix>_<secret>`. The prefix is public and identifies the key. The secret has 256 bits. */
const keyForm = /^tk_(live|test)_[0-9a-f]{16}_[\w-]{43}$/

/**
 * SQL: the key `k` is open. Keys are void that somebody else may have made: those from before the owner proved the e-mail,
 * those made between a change of the e-mail and its undo, and of a frozen account the young ones.
 */
export const isOpenKey = /* sql */ `
  k.revoked_at is null
  and not exists (
    select from users u
     where u.id = k.user_id and (k.created_at < u.credentials_void_before or ${youngWhenFrozen('k.created_at')}))
  and not exists (
    select from email_changes e where e.user_id = k.user_id and k.created_at between e.changed_at and e.undone_at)`

/** The columns that the owner of a key sees in the list. */
const listed = ['id', 'prefix', 'label', 'created_at', 'last_used_at']

/** A key as its owner sees it in the list. */
type ListedApiKey = Pick<ApiKey, 'id' | 'prefix' | 'label' | 'createdAt' | 'lastUsedAt'>

/** A key just created. `apiKey` is returned this once; the database stores its hash. */
type NewApiKey = Pick<ApiKey, 'id' | 'prefix' | 'createdAt' | 'label'> & { readonly apiKey: string }

/**
 * Creates a key, and tells the owner by mail. Throws `too_many_api_keys` when the creator has twenty open keys, also under
 * concurrent requests.
 */
export async function createApiKey(
  { transact, config }: Pick<Services, 'transact' | 'config'>,
  userId: string,
  label: string | undefined,
  origin?: Origin,
): Promise<NewApiKey> {
  const prefix = randomBytes(prefixBytes).toString('hex')
  const apiKey = `tk_${config.mode}_${prefix}_${newSecret()}`
  return transact(async (uow) => {
    const { trx } = uow
    await lockCreator(trx, userId)
    const [created] = await query<Pick<ApiKey, 'id' | 'createdAt'>>(trx, {
      name: 'api_keys.create',
      text: /* sql */ `
        insert into api_keys (user_id, prefix, key_hash, label)
        select $1, $2, $3, $4
         where (select count(*) from api_keys k where k.user_id = $1 and ${isOpenKey}) < ${mostOpen}
        returning id, created_at as "createdAt"`,
      values: [userId, prefix, hashSecret(apiKey), label ?? null],
    })
    if (created === undefined) throw new DomainError('too_many_api_keys')
    const notice = apiKeyNotice(config.mode, prefix, label)
    await notifyOwner(uow, config.http.publicUrl, userId, notice, origin)
    return { ...created, prefix, label: label ?? null, apiKey }
  })
}

/** Enough to find the key in the list of keys. */
const prefixShown = 5

export function apiKeyNotice(mode: Config['mode'], prefix: string, label: string | undefined): AccountNotice {
  return warning('api-key-created', (site, trusted) => ({
    subject: `A new API key at ${site}`,
    lines: [
      `An API key was made for your account at ${site}. It can open checkouts and read your tips, but cannot move money.`,
    ],
    facts: [
      ['Begins with', `tk_${mode}_${prefix.slice(0, prefixShown)}...`],
      ...(label === undefined || !trusted ? [] : [['Label', quoteInMail(label)] as const]),
    ],
  }))
}

/** Lists a creator's open keys, newest first. */
export async function listApiKeys({ db }: Pick<Services, 'db'>, userId: string): Promise<ListedApiKey[]> {
  return ApiKey.query(db)
    .alias('k')
    .select(listed)
    .where({ user_id: userId })
    .whereRaw(isOpenKey)
    .orderBy([{ column: 'created_at', order: 'desc' }, 'id'])
}

/** Revokes a key. Keys are not cached, so it takes effect immediately. Throws `api_key_not_found`. */
export async function revokeApiKey(
  { transact }: Pick<Services, 'transact'>,
  userId: string,
  keyId: string,
): Promise<void> {
  const revoked = await transact(async ({ trx }) =>
    ApiKey.query(trx)
      .patch({ revokedAt: databaseTime })
      .where({ id: keyId, user_id: userId, revoked_at: null }),
  )
  if (revoked === 0) throw new DomainError('api_key_not_found')
}

/** Revokes the keys made then or later, because somebody else may have made them. */
export async function revokeYoungKeys(trx: Knex.Transaction, userId: string, since: Date): Promise<void> {
  await ApiKey.query(trx)
    .patch({ revokedAt: databaseTime })
    .where({ user_id: userId, revoked_at: null })
    .where('created_at', '>=', since)
}

/** Refuses a key that the deployment of the other mode made, and says where it belongs. Throws `invalid_api_key`. */
export function refuseKeyOfOtherMode({ mode, otherUrl }: Config, bearer: string): void {
  const [, made = mode] = keyForm.exec(bearer) ?? []
  if (made === mode) return
  const place = otherUrl === undefined ? '' : `: use it at ${otherUrl}`
  throw inputError('invalid_api_key', 'Authorization', `is a key of the ${made} deployment${place}`)
}

/**
 * Finds the owner of an open API key. A text of another form is not sent to the database. The search uses the hash of
 * the whole key, so its timing reveals nothing about the key. Throws `invalid_api_key` for a key of the other mode.
 */
export async function findKeyOwner(
  { db, config }: Pick<Services, 'db' | 'config'>,
  bearer: string,
): Promise<string | undefined> {
  refuseKeyOfOtherMode(config, bearer)
  if (!keyForm.test(bearer)) return undefined
  const [found] = await query<{ userId: string }>(db, {
    name: 'api_keys.find',
    text: /* sql */ `
      with found as (select k.id, k.user_id from api_keys k where k.key_hash = $1 and ${isOpenKey}),
      used as (
        update api_keys k set last_used_at = now() from found f
         where k.id = f.id and (k.last_used_at is null or k.last_used_at < now() - $2::float8 * interval '1 second'))
      select user_id as "userId" from found`,
    values: [hashSecret(bearer), lastUsedEverySeconds],
  })
  return found?.userId
}

export async function forgetApiKeys(trx: Knex.Transaction, userId: string): Promise<void> {
  await ApiKey.query(trx).delete().where({ user_id: userId })
}
