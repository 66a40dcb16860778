import type { Knex } from 'knex'
import { useSecret } from '../../secrets/secrets.js'

/** `passkey_login` is answered without naming an account, the others by their account only. */
type ChallengePurpose = 'passkey_add' | 'passkey_login' | 'passkey_confirm'

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
  if (challenge === undefined || (await useSecret(db, purpose, challenge, userId)) === undefined)
    return undefined
  return challenge
}

function challengeIn(clientDataJson: string): string | undefined {
  try {
    const data: unknown = JSON.parse(Buffer.from(clientDataJson, 'base64url').toString())
    const text = typeof data === 'object' && data !== null && 'challenge' in data ? data.challenge : undefined
    return typeof text === 'string' ? text : undefined
  } catch {
    return undefined
  }
}
