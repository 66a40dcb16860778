import type { Knex } from 'knex'
import type { Config } from '../../platform/config/config.js'
import { query } from '../../platform/database/database.js'
import type { SignedIn } from './session.js'

/** A client without a cookie jar opens one with each sign-in. */
const mostListed = 200

export interface ListedSession {
  readonly id: string
  /** The one of the request. */
  readonly current: boolean
  readonly createdAt: Date
  /** To the minute. */
  readonly lastUsedAt: Date
  readonly network: string | null
  readonly userAgent: string | null
}

/** Lists the open sessions of an account, newest first: those that are good, and those whose access token still is. */
export async function listSessions(
  db: Knex,
  { idleDays }: Config['sessions'],
  { account, sessionHash }: SignedIn,
): Promise<ListedSession[]> {
  return query<ListedSession>(db, {
    name: 'sessions.list',
    text: /* sql */ `
      select id, token_hash = $2 as current, created_at as "createdAt", network, user_agent as "userAgent",
             greatest(created_at, least(now(), idle_until - $3::float8 * interval '1 day')) as "lastUsedAt"
        from sessions s
       where user_id = $1
         and (least(idle_until, absolute_until) > now()
              or exists (select from access_tokens a where a.session_hash = s.token_hash and a.expires_at > now()))
       order by created_at desc, id limit ${mostListed}`,
    values: [account.id, sessionHash, idleDays],
  })
}
