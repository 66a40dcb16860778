import { randomUUID } from 'node:crypto'
import type { Knex } from 'knex'
import { newSecret, secretHash } from '../kernel/ids.js'
import type { Config } from '../platform/config/config.js'
import { query } from '../platform/database/database.js'

/** A session can be read this long after it expired: its last tip may still be on its way. */
const readableMinutes = 60
/** Then nobody can use it any more; it is kept a day for whoever has to look into something. */
const keptHours = 24
const embedForm = /^[\w-]{43}$/
const tokenForm = /^sdk_sess_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

type Theme = 'dark' | 'light'

/** What a browser may do for one creator, on one site. */
export interface SdkSession {
  readonly id: string
  readonly userId: string
  /** The origin of the embedding page. */
  readonly origin: string
  readonly theme: Theme
  readonly expiresAt: Date
  /** Intents made so far. */
  readonly intents: number
  /** Neither expired nor consumed by a confirmed tip. */
  readonly open: boolean
}

/** A session just opened. The token exists only here and with the client; the database has its hash. */
export interface OpenedSdkSession {
  readonly sessionToken: string
  /** Public and random: names the session in the embed's address, opens nothing. */
  readonly embedId: string
}

const columns = /* sql */ `
  id, user_id as "userId", origin, theme, expires_at as "expiresAt", intents,
  consumed_at is null and expires_at > clock_timestamp() as open`

/** Opens a session of `minutes` for a creator's embed at this origin. */
export async function openSdkSession(
  db: Knex,
  { sessionMinutes }: Config['sdk'],
  { userId, origin, theme }: Pick<SdkSession, 'userId' | 'origin' | 'theme'>,
): Promise<OpenedSdkSession> {
  const sessionToken = `sdk_sess_${randomUUID()}`
  const embedId = newSecret()
  await query(db, {
    name: 'sdk_sessions.open',
    text: /* sql */ `
      insert into sdk_sessions (token_hash, embed_id, user_id, origin, theme, expires_at)
      values ($1, $2, $3, $4, $5, clock_timestamp() + $6::float8 * interval '1 minute')`,
    values: [secretHash(sessionToken), embedId, userId, origin, theme, sessionMinutes],
  })
  return { sessionToken, embedId }
}

/** The session of a presented token, until an hour after it expired. A text of another form is not looked up. */
export async function findSdkSession(db: Knex, token: string): Promise<SdkSession | undefined> {
  if (!tokenForm.test(token)) return undefined
  const [session] = await query<SdkSession>(db, {
    name: 'sdk_sessions.find',
    text: `select ${columns} from sdk_sessions where token_hash = $1 and ${readable}`,
    values: [secretHash(token)],
  })
  return session
}

/** Where the embed of this id may be framed; undefined when there is none any more. */
export async function findEmbed(
  db: Knex,
  embedId: string,
): Promise<Pick<SdkSession, 'origin' | 'theme'> | undefined> {
  if (!embedForm.test(embedId)) return undefined
  const [embed] = await query<Pick<SdkSession, 'origin' | 'theme'>>(db, {
    name: 'sdk_sessions.embed',
    text: `select origin, theme from sdk_sessions where embed_id = $1 and ${readable}`,
    values: [embedId],
  })
  return embed
}

/** Deletes the sessions nobody can use any more, with their handoffs. Returns how many. */
export async function forgetSdkSessions(db: Knex): Promise<number> {
  const gone = await query(db, {
    name: 'sdk_sessions.forget',
    text: `delete from sdk_sessions where expires_at < now() - interval '${keptHours} hours' returning id`,
    values: [],
  })
  return gone.length
}

/** `now()`: stable within the statement, so that an index can serve it. */
const readable = `expires_at > now() - interval '${readableMinutes} minutes'`
