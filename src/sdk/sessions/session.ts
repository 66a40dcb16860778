import { randomUUID } from 'node:crypto'
import type { Knex } from 'knex'
import type { OwnReference } from '../../intents/own-reference.js'
import { DomainError, type ErrorCode } from '../../kernel/errors.js'
import { hashSecret, newSecret } from '../../kernel/ids.js'
import type { Config } from '../../platform/config/config.js'
import { changesOne, query, write } from '../../platform/database/database.js'

/** A session can be read this long after it expired, because its last tip may still be pending. */
const readableMinutes = 60
/** An expired session is kept this long for investigations. */
const keptHours = 24
const embedForm = /^[\w-]{43}$/
const tokenForm = /^sdk_sess_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

type Theme = 'dark' | 'light'

/** The right of a browser to tip one creator on one site (docs/decisions/0029). */
export interface SdkSession {
  readonly id: string
  readonly userId: string
  /** The origin of the embedding page. */
  readonly origin: string
  readonly theme: Theme
  readonly expiresAt: Date
  /** Intents created so far. */
  readonly intents: number
  readonly expired: boolean
  /** Not expired, or only within the last hour. */
  readonly readable: boolean
  /** One of its tips was confirmed. */
  readonly consumed: boolean
  /** Of its intents, where a request gives none. */
  readonly own: OwnReference
}

/** A session just opened. The database stores only the token's hash. */
export interface OpenedSdkSession {
  readonly sessionToken: string
  /** Public and random. Identifies the session in the embed's address and gives no access. */
  readonly embedId: string
}

/** Uses `now()`, not `clock_timestamp()`: only a stable value can use an index. */
const readable = `expires_at > now() - interval '${readableMinutes} minutes'`

const columns = /* sql */ `
  id, user_id as "userId", origin, theme, expires_at as "expiresAt", intents,
  expires_at <= clock_timestamp() as expired, ${readable} as readable, consumed_at is not null as consumed,
  json_build_object('reference', reference, 'metadata', metadata) as own`

/** Opens a session for a creator's embed at this origin. */
export async function openSdkSession(
  db: Knex,
  { sessionMinutes }: Config['sdk'],
  { userId, origin, theme, own }: Pick<SdkSession, 'userId' | 'origin' | 'theme' | 'own'>,
): Promise<OpenedSdkSession> {
  const sessionToken = `sdk_sess_${randomUUID()}`
  const embedId = newSecret()
  await write(db, {
    name: 'sdk_sessions.open',
    text: /* sql */ `
      insert into sdk_sessions (token_hash, embed_id, user_id, origin, theme, expires_at, reference, metadata)
      values ($1, $2, $3, $4, $5, clock_timestamp() + $6::float8 * interval '1 minute', $7, $8)`,
    values: [
      hashSecret(sessionToken),
      embedId,
      userId,
      origin,
      theme,
      sessionMinutes,
      own.reference,
      own.metadata,
    ],
  })
  return { sessionToken, embedId }
}

/** Finds the session of a token, until it is deleted. A text of another form is not sent to the database. */
export async function findSdkSession(db: Knex, token: string): Promise<SdkSession | undefined> {
  if (!tokenForm.test(token)) return undefined
  const [session] = await query<SdkSession>(db, {
    name: 'sdk_sessions.find',
    text: `select ${columns} from sdk_sessions where token_hash = $1`,
    values: [hashSecret(token)],
  })
  return session
}

/**
 * A session and what counts an intent for it, as `createIntent` takes them. Throws why it has none left: `session_consumed`,
 * `session_expired`, `session_exhausted`, `session_unknown`.
 */
export function countedSession(config: Config['sdk'], id: string) {
  return {
    id,
    async count(trx: Knex.Transaction): Promise<void> {
      if (!(await countIntent(trx, config, id))) throw new DomainError(await whyNotCounted(trx, id))
    },
  }
}

/**
 * Counts an intent for a session, in the transaction that stores the intent, so that a session never exceeds its number of
 * intents. Returns false when it has none left.
 */
export function countIntent(
  trx: Knex.Transaction,
  { sessionIntents }: Config['sdk'],
  sessionId: string,
): Promise<boolean> {
  return changesOne(trx, {
    name: 'sdk_sessions.count-intent',
    text: /* sql */ `
      update sdk_sessions set intents = intents + 1
      where id = $1 and intents < $2 and consumed_at is null and expires_at > clock_timestamp()
      returning id`,
    values: [sessionId, sessionIntents],
  })
}

async function whyNotCounted(trx: Knex.Transaction, sessionId: string): Promise<ErrorCode> {
  const [session] = await query<{ code: ErrorCode }>(trx, {
    name: 'sdk_sessions.why-ended',
    text: /* sql */ `
      select case when consumed_at is not null then 'session_consumed'
                  when expires_at <= clock_timestamp() then 'session_expired'
                  else 'session_exhausted' end as code
      from sdk_sessions where id = $1`,
    values: [sessionId],
  })
  return session?.code ?? 'session_unknown'
}

/** Finds the origin that may frame this embed, while its session is readable. */
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

/** Deletes sessions a day after they expired. Returns the number of sessions. */
export async function deleteOldSdkSessions(db: Knex): Promise<number> {
  const deleted = await query(db, {
    name: 'sdk_sessions.delete-old',
    text: `delete from sdk_sessions where expires_at < now() - interval '${keptHours} hours' returning id`,
  })
  return deleted.length
}

/** Ends every session for a creator. Their intents stay. */
export async function forgetSdkSessions(trx: Knex.Transaction, userId: string): Promise<void> {
  await query(trx, {
    name: 'sdk_sessions.forget',
    text: 'delete from sdk_sessions where user_id = $1',
    values: [userId],
  })
}
