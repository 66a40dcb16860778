import { randomBytes } from 'node:crypto'
import type { Knex } from 'knex'
import { DomainError } from '../kernel/errors.js'
import { newSecret, secretHash } from '../kernel/ids.js'
import { query } from '../platform/database/database.js'
import type { Services } from '../services.js'
import { lockCreator } from './lock-creator.js'

/** Keys of one creator that open something. */
const mostOpen = 20
const prefixBytes = 8
/** A key says at most this often when it was last used, so that reading does not become writing. */
const notedEverySeconds = 60

/** `tk_live_<prefix>_<secret>`: the prefix names the key, the secret (256 bits) opens it. */
const form = /^tk_live_[0-9a-f]{16}_[\w-]{43}$/

/** A key as its owner sees it ever after. */
export interface ApiKey {
  readonly id: string
  readonly prefix: string
  readonly label: string | null
  readonly createdAt: Date
  readonly lastUsedAt: Date | null
}

/** A key just made. `apiKey` exists only here and with its owner; the database has its hash. */
export interface NewApiKey extends ApiKey {
  readonly apiKey: string
}

const columns = /* sql */ `id, prefix, label, created_at as "createdAt", last_used_at as "lastUsedAt"`

/**
 * Makes a key for a creator. Throws `too_many_api_keys` at the twenty-first open one, also for all but the first
 * twenty of those who ask at the same moment.
 */
export async function createApiKey(
  { transact }: Pick<Services, 'transact'>,
  userId: string,
  label: string | undefined,
): Promise<NewApiKey> {
  const prefix = randomBytes(prefixBytes).toString('hex')
  const apiKey = `tk_live_${prefix}_${newSecret()}`
  return transact(async ({ trx }) => {
    await lockCreator(trx, userId)
    const [made] = await query<ApiKey>(trx, {
      name: 'api_keys.create',
      text: /* sql */ `
        insert into api_keys (user_id, prefix, key_hash, label)
        select $1, $2, $3, $4
         where (select count(*) from api_keys where user_id = $1 and revoked_at is null) < ${mostOpen}
        returning ${columns}`,
      values: [userId, prefix, secretHash(apiKey), label ?? null],
    })
    if (made === undefined) throw new DomainError('too_many_api_keys')
    return { ...made, apiKey }
  })
}

/** A creator's open keys, newest first. */
export async function listApiKeys({ db }: Pick<Services, 'db'>, userId: string): Promise<ApiKey[]> {
  return query(db, {
    name: 'api_keys.list',
    text: `select ${columns} from api_keys where user_id = $1 and revoked_at is null order by created_at desc, id`,
    values: [userId],
  })
}

/** Ends a key at once: nothing caches keys. Throws `api_key_not_found` unless it is the creator's and open. */
export async function revokeApiKey(
  { db }: Pick<Services, 'db'>,
  userId: string,
  keyId: string,
): Promise<void> {
  const revoked = await query(db, {
    name: 'api_keys.revoke',
    text: `update api_keys set revoked_at = clock_timestamp()
           where id = $1 and user_id = $2 and revoked_at is null returning id`,
    values: [keyId, userId],
  })
  if (revoked.length === 0) throw new DomainError('api_key_not_found')
}

/** Whose key it is. */
export interface FoundApiKey {
  readonly userId: string
  readonly keyId: string
}

/**
 * The owner of a presented bearer token if it is an open API key. One statement for every key that could be one,
 * known or not; a text of another form never reaches the database. Found by the hash of the whole key: comparing
 * hashes tells a caller nothing about the key, however long it takes.
 */
export async function findApiKey(db: Knex, bearer: string): Promise<FoundApiKey | undefined> {
  if (!form.test(bearer)) return undefined
  const [found] = await query<FoundApiKey>(db, {
    name: 'api_keys.find',
    text: /* sql */ `
      with found as (select id, user_id from api_keys where key_hash = $1 and revoked_at is null),
      noted as (
        update api_keys k set last_used_at = now() from found f
         where k.id = f.id and (k.last_used_at is null or k.last_used_at < now() - $2::float8 * interval '1 second'))
      select user_id as "userId", id as "keyId" from found`,
    values: [secretHash(bearer), notedEverySeconds],
  })
  return found
}
