import type { Knex } from 'knex'
import { unknownNetwork } from '../../http/limits/client-address.js'
import type { Caller } from '../../http/security/caller.js'
import { hashSecret, newSecret } from '../../kernel/ids.js'
import type { Config } from '../../platform/config/config.js'
import { query } from '../../platform/database/database.js'
import { retryConflicts, type UnitOfWork } from '../../platform/database/transact.js'
import { type Account, accountColumns } from '../account.js'
import { Session, type User } from '../models.js'
import { notifyOwner, warning } from '../notify-owner.js'
import { hasFactorSql } from '../protection.js'
import { watchOwnersSql } from '../wallets/watch-queue.js'

/** The idle limit is extended at most this often, so that most requests write nothing. */
const slideEverySeconds = 60

export interface OpenedSession {
  /** For the cookie. The database stores only hashes of this token and of the access token. */
  readonly sessionToken: string
  readonly accessToken: string
  readonly expiresAt: Date
  /** For the device cookie. */
  readonly deviceToken: string
}

/** An account and the session just opened for it. */
export interface AccountSession {
  readonly account: Account
  readonly session: OpenedSession
}

/** The tokens of a request, in the order in which they are tried. */
export interface PresentedTokens {
  readonly sessionToken: string | undefined
  readonly accessToken: string | undefined
}

export interface SignedIn {
  readonly account: Account
  /** Identifies the session, to revoke it. */
  readonly sessionHash: Buffer
  /** Seconds since the session was opened, by a password, a mailed code or a passkey. */
  readonly sessionAge: number
}

/**
 * Opens a session with its access token and revokes the presented session. A session from before a login does not survive
 * it, which prevents session fixation. The owner gets a mail about a new device: another device cookie, and not the network
 * and browser of a device that is known, because clients without a cookie jar sign in often.
 */
export async function openSession(
  uow: UnitOfWork,
  { sessions: limits, http }: Pick<Config, 'sessions' | 'http'>,
  account: Pick<Account, 'id' | 'email'>,
  caller: Caller,
): Promise<OpenedSession> {
  const opened = await insertSession(uow.trx, limits, account.id, caller, opensAlways)
  if (opened === undefined) throw new Error('The session was not written')
  const { network, userAgent } = caller
  if (opened.newDevice)
    await notifyOwner(uow, http.publicUrl, account.id, newDeviceNotice, { network, userAgent })
  return opened
}

/**
 * Opens a session in one statement, if it takes no more than the password: no second factor, no mail about a new device, no frozen
 * account. Undefined: it takes more, or one of them has changed since the account was read. The lock is of the account as it is now, and
 * its columns say whether what the statement sees of factors and devices is older.
 */
export function openSessionByPassword(
  db: Knex,
  { sessions: limits }: Pick<Config, 'sessions'>,
  { id, passwordHash, factorsChangedAt }: Pick<User, 'id' | 'passwordHash' | 'factorsChangedAt'>,
  caller: Caller,
): Promise<OpenedSession | undefined> {
  const opens = { ...opensByPassword, values: [passwordHash, factorsChangedAt] }
  return retryConflicts(() => insertSession(db, limits, id, caller, opens))
}

/** The user `$2` for whom a session is opened, as SQL; no row: none is. */
interface Opens {
  readonly name: string
  readonly opener: string
  /** From `$11` on. */
  readonly values: readonly unknown[]
}

const opensAlways: Opens = { name: 'sessions.open', opener: 'select $2::uuid as user_id', values: [] }
const opensByPassword: Omit<Opens, 'values'> = {
  name: 'sessions.open-by-password',
  opener: /* sql */ `
    select id as user_id from users
     where id = $2 and password_hash = $11 and factors_changed_at is not distinct from $12 and frozen_at is null
       and not (${hasFactorSql('$2', '0')}) and not (select is_new from device)
       for share`,
}

async function insertSession(
  db: Knex,
  limits: Config['sessions'],
  userId: string,
  caller: Caller,
  { name, opener, values }: Opens,
): Promise<(OpenedSession & { readonly newDevice: boolean }) | undefined> {
  const sessionToken = newSecret()
  const accessToken = newSecret()
  const { deviceToken, network, userAgent } = caller
  const [opened] = await query<{ expiresAt: Date; newDevice: boolean }>(db, {
    name,
    text: /* sql */ `
      with device as (
        select (exists (select from devices where user_id = $2) or exists (select from users where id = $2 and frozen_at is not null))
          and not exists (
            select from devices
             where user_id = $2 and (device_hash = $8 or network = nullif($9, '${unknownNetwork}') and user_agent is not distinct from $10)) as is_new),
      opener as (${opener}),
      revoked as (delete from sessions where token_hash = $6 and exists (select from opener)),
      opened as (
        insert into sessions (token_hash, user_id, idle_until, absolute_until, device_hash, network, user_agent)
        select $1, user_id, clock_timestamp() + $3::float8 * interval '1 day',
                            clock_timestamp() + $4::float8 * interval '1 day', $8, $9, $10 from opener
        returning token_hash, user_id),
      seen as (
        insert into devices (user_id, device_hash, network, user_agent) select user_id, $8, $9, $10 from opened
        on conflict (user_id, device_hash) do update
           set network = excluded.network, user_agent = excluded.user_agent, last_seen_at = clock_timestamp())
      insert into access_tokens (token_hash, session_hash, user_id, expires_at)
      select $5, token_hash, user_id, clock_timestamp() + $7::float8 * interval '1 hour' from opened
      returning expires_at as "expiresAt", (select is_new from device) as "newDevice"`,
    values: [
      hashSecret(sessionToken),
      userId,
      limits.idleDays,
      limits.absoluteDays,
      hashSecret(accessToken),
      hashOrNull(caller.presentedToken),
      limits.accessTokenHours,
      hashSecret(deviceToken),
      network,
      userAgent,
      ...values,
    ],
  })
  return opened && { sessionToken, accessToken, deviceToken, ...opened }
}

export const newDeviceNotice = warning('new-device', (site) => ({
  subject: `A new device signed in to ${site}`,
  lines: [
    `Somebody signed in to your account at ${site} with a browser that has not been used there before.`,
  ],
}))

/** SQL: the session has not reached its limits. One that was ended has no row. */
export const isOpenSession = 'idle_until > now() and absolute_until > now()'

/**
 * Finds the account of the cookie's session if that is valid, else of the access token. The same statement extends the
 * session's idle limit when that is due, and has the owner's wallet looked at: its address may be on the screen. An access token is valid until its `expiresAt` or until its session is
 * revoked; its use does not extend the session.
 */
export async function findSession(
  db: Knex,
  limits: Config['sessions'],
  { sessionToken, accessToken }: PresentedTokens,
): Promise<SignedIn | undefined> {
  if (sessionToken === undefined && accessToken === undefined) return undefined
  const [row] = await query<Account & Omit<SignedIn, 'account'>>(db, {
    name: 'sessions.find',
    text: /* sql */ `
      with presented as (
        select token_hash as session_hash, user_id, created_at, 1 as choice from sessions
         where token_hash = $1 and ${isOpenSession}
        union all
        select a.session_hash, a.user_id, s.created_at, 2
          from access_tokens a join sessions s on s.token_hash = a.session_hash
         where a.token_hash = $2 and a.expires_at > now()
        order by choice limit 1),
      slid as (
        update sessions s set idle_until = now() + $3::float8 * interval '1 day'
          from presented p
         where s.token_hash = p.session_hash and p.choice = 1
           and s.idle_until < now() + $3::float8 * interval '1 day' - $4::float8 * interval '1 second'
        returning s.user_id),
      watched as (${watchOwnersSql('slid')})
      select p.session_hash as "sessionHash", extract(epoch from now() - p.created_at)::float8 as "sessionAge", ${accountColumns}
        from presented p join users u on u.id = p.user_id and u.closed_at is null left join wallets w on w.user_id = u.id`,
    values: [hashOrNull(sessionToken), hashOrNull(accessToken), limits.idleDays, slideEverySeconds],
  })
  if (row === undefined) return undefined
  const { sessionHash, sessionAge, ...account } = row
  return { account, sessionHash, sessionAge }
}

/** Deletes a session and its access tokens. Idempotent. */
export async function revokeSession(db: Knex, sessionHash: Buffer): Promise<void> {
  await Session.query(db).deleteById(sessionHash)
}

function hashOrNull(token: string | undefined): Buffer | null {
  return token === undefined ? null : hashSecret(token)
}
