import type { Knex } from 'knex'
import { unknownNetwork } from '../../http/limits/client-address.js'
import type { Caller } from '../../http/security/caller.js'
import { hashSecret, newSecret } from '../../kernel/ids.js'
import type { Config } from '../../platform/config/config.js'
import { query } from '../../platform/database/database.js'
import type { UnitOfWork } from '../../platform/database/transact.js'
import { type Account, accountColumns } from '../account.js'
import { Session } from '../models.js'
import { notifyOwner, warning } from '../notify-owner.js'
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
  const sessionToken = newSecret()
  const accessToken = newSecret()
  const { deviceToken, network, userAgent } = caller
  const [opened] = await query<{ expiresAt: Date; newDevice: boolean }>(uow.trx, {
    name: 'sessions.open',
    text: /* sql */ `
      with revoked as (delete from sessions where token_hash = $6),
      opened as (
        insert into sessions (token_hash, user_id, idle_until, absolute_until, device_hash, network, user_agent)
        values ($1, $2, clock_timestamp() + $3::float8 * interval '1 day',
                        clock_timestamp() + $4::float8 * interval '1 day', $8, $9, $10)
        returning token_hash, user_id),
      seen as (
        insert into devices (user_id, device_hash, network, user_agent) values ($2, $8, $9, $10)
        on conflict (user_id, device_hash) do update
           set network = excluded.network, user_agent = excluded.user_agent, last_seen_at = clock_timestamp())
      insert into access_tokens (token_hash, session_hash, user_id, expires_at)
      select $5, token_hash, user_id, clock_timestamp() + $7::float8 * interval '1 hour' from opened
      returning expires_at as "expiresAt",
        (exists (select from devices where user_id = $2) or exists (select from users where id = $2 and frozen_at is not null))
        and not exists (
          select from devices
           where user_id = $2 and (device_hash = $8 or network = nullif($9, '${unknownNetwork}') and user_agent is not distinct from $10)) as "newDevice"`,
    values: [
      hashSecret(sessionToken),
      account.id,
      limits.idleDays,
      limits.absoluteDays,
      hashSecret(accessToken),
      hashOrNull(caller.presentedToken),
      limits.accessTokenHours,
      hashSecret(deviceToken),
      network,
      userAgent,
    ],
  })
  if (opened === undefined) throw new Error('The session was not written')
  if (opened.newDevice)
    await notifyOwner(uow, http.publicUrl, account.id, newDeviceNotice, { network, userAgent })
  return { sessionToken, accessToken, expiresAt: opened.expiresAt, deviceToken }
}

export const newDeviceNotice = warning('new-device', (site) => ({
  subject: `A new device signed in to ${site}`,
  lines: [
    `Somebody signed in to your account at ${site} with a browser that has not been used there before.`,
  ],
}))

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
         where token_hash = $1 and idle_until > now() and absolute_until > now()
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
