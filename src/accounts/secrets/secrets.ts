import type { Knex } from 'knex'
import { DomainError } from '../../kernel/errors.js'
import { hashSecret, newSecret } from '../../kernel/ids.js'
import { query, write } from '../../platform/database/database.js'
import { cautionHours } from '../protection.js'

interface Rule {
  /** A secret is good for so long. */
  readonly minutes: number
  /** So many for one account `within` so many minutes. */
  readonly most?: number
  readonly within?: number
  /** So many wrong codes void one. */
  readonly failures?: number
}

/** A code that confirms: at most fifty guesses a day among a million codes. */
const confirmation = { minutes: 10, most: 10, within: 24 * 60, failures: 5 } as const

/** What somebody is given to present it once. */
export const purposes = {
  /** Wrong ones lock the account's codes: attempts.ts. */
  sign_in_code: { minutes: 10 },
  /** None is mailed while the one before may be good. */
  sign_in_link: { minutes: 15, most: 1, within: 15 },
  password_reset: { minutes: 30 },
  email_change: { minutes: 60, most: 5, within: 15 },
  email_undo: { minutes: cautionHours * 60 },
  /** An owner may read the mail days later. */
  not_me: { minutes: 7 * 24 * 60 },
  passkey_add: { minutes: 5 },
  /** Names no account. */
  passkey_login: { minutes: 5 },
  passkey_confirm: { minutes: 5 },
  payout_wallet: { minutes: 10 },
  sol_domain: { minutes: 10 },
  step_up: confirmation,
  withdrawal: confirmation,
  sdk_handoff: { minutes: 1 },
  /** May be presented again within its minute. */
  pay_link: { minutes: 1 },
} as const satisfies Readonly<Record<string, Rule>>

export type Purpose = keyof typeof purposes

export interface NewSecret {
  readonly userId: string | null
  /** SHA-256 of a random token or of a message to be signed, or the keyed hash of a code. */
  readonly hash: Buffer
  /** What it is for: a request, a withdrawal, a wallet, a domain, an SDK session. */
  readonly subject?: string
  /** An address of an e-mail, a message to be signed, or a tip. */
  readonly content?: string
  /** What only the token opens. */
  readonly sealed?: Buffer
  /** It ends then, if that is sooner. */
  readonly until?: Date
}

/**
 * Stores a secret and returns its end. Undefined: the account has had as many as it may. The caller then holds a lock of the
 * account, so that none is missed in the count.
 */
export async function storeSecret(
  db: Knex,
  purpose: Purpose,
  { userId, hash, subject, content, sealed, until }: NewSecret,
): Promise<Date | undefined> {
  const { minutes, most, within }: Rule = purposes[purpose]
  const [stored] = await query<{ expiresAt: Date }>(db, {
    name: 'secrets.store',
    text: /* sql */ `
      insert into one_time_secrets (purpose, user_id, hash, subject, content, sealed, expires_at)
      select $1, $2, $3, $4, $5, $6, least($7::timestamptz, clock_timestamp() + $8::int * interval '1 minute')
       where $9::int is null or $9::int > (
         select count(*) from one_time_secrets
          where user_id = $2 and purpose = $1 and created_at > clock_timestamp() - $10::int * interval '1 minute')
      returning expires_at as "expiresAt"`,
    values: [purpose, userId, hash, subject, content, sealed, until, minutes, most, within],
  })
  return stored?.expiresAt
}

/** Stores a new random token, which the caller hands out. The database has its hash only. */
export async function createToken(
  db: Knex,
  purpose: Purpose,
  secret: Omit<NewSecret, 'hash'>,
): Promise<{ readonly token: string; readonly expiresAt: Date }> {
  const token = newSecret()
  const expiresAt = await storeSecret(db, purpose, { ...secret, hash: hashSecret(token) })
  if (expiresAt === undefined) throw new Error(`The account has had too many: ${purpose}`)
  return { token, expiresAt }
}

/** The seconds until an account may have another secret; 0: it may have one now. */
export async function secondsToNext(
  trx: Knex.Transaction,
  purpose: Purpose,
  userId: string,
): Promise<number> {
  const { most, within }: Rule = purposes[purpose]
  const [row] = await query<{ seconds: number }>(trx, {
    name: 'secrets.next',
    text: /* sql */ `
      select greatest(1, ceil(extract(epoch from
          min(created_at) + $4::int * interval '1 minute' - clock_timestamp())))::int as seconds
        from one_time_secrets
       where user_id = $1 and purpose = $2 and created_at > clock_timestamp() - $4::int * interval '1 minute'
      having count(*) >= $3::int`,
    values: [userId, purpose, most, within],
  })
  return row?.seconds ?? 0
}

/** A secret that is good: not used, not void, not too old. */
export interface GoodSecret {
  /** Null: of nobody yet. */
  readonly userId: string | null
  readonly subject: string | null
  readonly content: string | null
  readonly sealed: Buffer | null
}

const columns = 'user_id as "userId", subject, content, sealed'
const isGood = 'used_at is null and expires_at > clock_timestamp()'

/** Finds a token's secret without using it. */
async function findSecret(db: Knex, purpose: Purpose, token: string): Promise<GoodSecret | undefined> {
  const [found] = await query<GoodSecret>(db, {
    name: 'secrets.find',
    text: `select ${columns} from one_time_secrets where hash = $1 and purpose = $2 and ${isGood}`,
    values: [hashSecret(token), purpose],
  })
  return found
}

/** Uses a token up: of concurrent requests one gets it. `userId`: only if it is of this account. */
export async function useSecret(
  db: Knex,
  purpose: Purpose,
  token: string,
  userId: string | null = null,
): Promise<GoodSecret | undefined> {
  const [used] = await query<GoodSecret>(db, {
    name: 'secrets.use',
    text: /* sql */ `
      update one_time_secrets set used_at = clock_timestamp()
       where hash = $1 and purpose = $2 and ($3::uuid is null or user_id = $3) and ${isGood}
      returning ${columns}`,
    values: [hashSecret(token), purpose, userId],
  })
  return used
}

/** The message that an account was asked to sign for a subject. Only the newest of the account counts, whatever its subject. */
export async function findMessage(
  db: Knex,
  purpose: 'payout_wallet' | 'sol_domain',
  userId: string,
  subject: string,
): Promise<string | undefined> {
  const [found] = await query<{ content: string }>(db, {
    name: 'secrets.message',
    text: /* sql */ `
      select content from one_time_secrets
       where id = (select max(id) from one_time_secrets where user_id = $1 and purpose = $2) and subject = $3 and ${isGood}`,
    values: [userId, purpose, subject],
  })
  return found?.content
}

/** Voids the unused secrets of some purposes that were made at `since` or later: all, if it is not given. */
export async function voidSecrets(
  trx: Knex.Transaction,
  userId: string,
  voided: readonly Purpose[],
  since?: Date,
): Promise<void> {
  await write(trx, {
    name: 'secrets.void',
    text: /* sql */ `
      update one_time_secrets set used_at = clock_timestamp()
       where user_id = $1 and purpose = any($2::text[]) and used_at is null
         and created_at >= coalesce($3::timestamptz, '-infinity')`,
    values: [userId, voided, since ?? null],
  })
}

/** What the dashboard opens for a link. */
type LinkPage =
  | 'sign-in'
  | 'reset-password'
  | 'confirm-email'
  | 'undo-email'
  | 'not-me'
  | 'export'
  | 'confirm-withdrawal'

/**
 * The address of a mailed link. Browsers do not send the fragment, so the token reaches no log. The page there acts when its
 * button is pressed.
 */
export function linkUrl(publicUrl: string, page: LinkPage, token: string): string {
  return `${publicUrl}/dashboard#${page}=${token}`
}

interface Link {
  readonly userId: string
  /** The new address of a change of e-mail, the old one of its undo. */
  readonly email: string | null
}

/** Finds a link that can be used, without using it. Throws `invalid_link` as `useLink` does. */
export async function findLink(db: Knex, purpose: Purpose, token: string): Promise<Link> {
  return linkOf(await findSecret(db, purpose, token))
}

/** Uses a link. Throws `invalid_link` for one that is used, too old, unknown or made for another purpose. */
export async function useLink(trx: Knex.Transaction, purpose: Purpose, token: string): Promise<Link> {
  return linkOf(await useSecret(trx, purpose, token))
}

function linkOf(secret: GoodSecret | undefined): Link {
  if (secret === undefined || secret.userId === null) throw new DomainError('invalid_link')
  return { userId: secret.userId, email: secret.content }
}
