import { randomBytes } from 'node:crypto'
import type { Knex } from 'knex'
import { query } from '../../../platform/database/database.js'

/** `login` is answered without naming an account, the others by their account only. */
export type ChallengePurpose = 'add' | 'login' | 'confirm'

export const challengeMinutes = 5
const challengeBytes = 32

/** Creates a challenge. It is answered once. */
export async function createChallenge(
  db: Knex,
  purpose: ChallengePurpose,
  userId: string | null,
): Promise<Buffer> {
  const challenge = randomBytes(challengeBytes)
  await query(db, {
    name: 'passkeys.challenge',
    text: /* sql */ `
      insert into passkey_challenges (challenge, user_id, purpose, expires_at)
      values ($1, $2, $3, clock_timestamp() + $4::int * interval '1 minute')`,
    values: [challenge, userId, purpose, challengeMinutes],
  })
  return challenge
}

/**
 * Uses the challenge that a passkey's answer names, before the answer is verified: a challenge has one attempt. Returns the
 * challenge; undefined for one that is unknown, used, expired, or made for another purpose or account.
 */
export async function useChallenge(
  db: Knex,
  purpose: ChallengePurpose,
  userId: string | null,
  clientDataJson: string,
): Promise<string | undefined> {
  const challenge = challengeIn(clientDataJson)
  if (challenge === undefined) return undefined
  const used = await query(db, {
    name: 'passkeys.use-challenge',
    text: /* sql */ `
      delete from passkey_challenges
       where challenge = $1 and purpose = $2 and user_id is not distinct from $3 and expires_at > clock_timestamp()
      returning 1`,
    values: [challenge, purpose, userId],
  })
  return used.length === 1 ? challenge.toString('base64url') : undefined
}

/** Voids what an account's passkeys were asked to sign. */
export async function voidChallenges(trx: Knex.Transaction, userId: string): Promise<void> {
  await query(trx, {
    name: 'passkeys.void-challenges',
    text: 'delete from passkey_challenges where user_id = $1',
    values: [userId],
  })
}

function challengeIn(clientDataJson: string): Buffer | undefined {
  try {
    const data: unknown = JSON.parse(Buffer.from(clientDataJson, 'base64url').toString())
    const text = typeof data === 'object' && data !== null && 'challenge' in data ? data.challenge : undefined
    if (typeof text !== 'string') return undefined
    const challenge = Buffer.from(text, 'base64url')
    return challenge.length === challengeBytes ? challenge : undefined
  } catch {
    return undefined
  }
}
