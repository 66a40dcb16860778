import type { AuthenticationResponseJSON, AuthenticatorTransport } from '@simplewebauthn/server'
import type { Knex } from 'knex'
import type { z } from 'zod'
import { serviceName } from '../../kernel/brand.js'
import { query } from '../../platform/database/database.js'
import type { Services } from '../../services.js'
import { useSecret } from '../secrets/secrets.js'
import { countsFor, type FactorAge, type FactorOutcome, type FactorRule } from './factor-rules.js'
import { passkeyAnswer } from './schemas.js'

const wrong: FactorOutcome = { kind: 'wrong', field: 'passkey' }

/** A passkey whose answer was verified, not yet used. */
export interface VerifiedPasskey {
  readonly id: string
  readonly userId: string
  readonly newCounter: number
}

interface StoredPasskey extends FactorAge {
  readonly id: string
  readonly userId: string
  readonly publicKey: Buffer
  readonly counter: bigint
  readonly transports: AuthenticatorTransport[]
}

/** Verifies the answer of one of the account's passkeys to a challenge for a confirmation, and uses it. */
export async function verifyPasskey(
  services: Pick<Services, 'config' | 'transact'>,
  userId: string,
  answer: unknown,
  rule: FactorRule,
): Promise<FactorOutcome> {
  const parsed = passkeyAnswer.safeParse(answer)
  if (!parsed.success) return wrong
  const found = await findAnswered(services, 'passkey_confirm', userId, parsed.data)
  if (found === undefined || found.passkey.userId !== userId) return wrong
  if (!countsFor(found.passkey, rule)) return { kind: 'young', field: 'passkey' }
  const verified = await verifyAnswer(services.config, parsed.data, found)
  if (verified === undefined) return wrong
  return (await services.transact(({ trx }) => usePasskey(trx, verified))) ? { kind: 'right' } : wrong
}

/** Verifies the answer of any passkey to a challenge for signing in. The caller then uses it. */
export async function verifyLogin(
  services: Pick<Services, 'config' | 'transact'>,
  answer: z.output<typeof passkeyAnswer>,
): Promise<VerifiedPasskey | undefined> {
  const found = await findAnswered(services, 'passkey_login', null, answer)
  return found === undefined ? undefined : verifyAnswer(services.config, answer, found)
}

interface Answered {
  readonly challenge: string
  readonly passkey: StoredPasskey
}

/** Uses the challenge and finds the passkey that answered it, in a transaction of its own. */
function findAnswered(
  { transact }: Pick<Services, 'transact'>,
  purpose: 'passkey_confirm' | 'passkey_login',
  userId: string | null,
  { id, response }: z.output<typeof passkeyAnswer>,
): Promise<Answered | undefined> {
  return transact(async ({ trx }) => {
    const challenge = await useChallenge(trx, purpose, userId, response.clientDataJSON)
    if (challenge === undefined) return undefined
    const passkey = await findPasskey(trx, Buffer.from(id, 'base64url'))
    return passkey && { challenge, passkey }
  })
}

async function findPasskey(trx: Knex.Transaction, credentialId: Buffer): Promise<StoredPasskey | undefined> {
  const [found] = await query<StoredPasskey>(trx, {
    name: 'passkeys.find',
    text: /* sql */ `
      select id, user_id as "userId", public_key as "publicKey", counter, transports, created_at as since,
             extract(epoch from clock_timestamp() - created_at)::float8 / 3600 as "ageHours"
        from passkeys where credential_id = $1`,
    values: [credentialId],
  })
  return found
}

/** Signature, site, user verification, and a counter that went up (a copied key's does not). */
async function verifyAnswer(
  { http }: Pick<Services['config'], 'http'>,
  answer: z.output<typeof passkeyAnswer>,
  { challenge, passkey }: Answered,
): Promise<VerifiedPasskey | undefined> {
  const { id, origin } = relyingParty(http.publicUrl)
  // Loading the library costs a quarter of a second, and most processes never use it.
  const { verifyAuthenticationResponse } = await import('@simplewebauthn/server')
  try {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: answer as AuthenticationResponseJSON,
      expectedChallenge: challenge,
      expectedOrigin: origin,
      expectedRPID: id,
      requireUserVerification: true,
      credential: {
        id: answer.id,
        publicKey: new Uint8Array(passkey.publicKey),
        counter: Number(passkey.counter),
        transports: passkey.transports,
      },
    })
    if (!verified || !isOfUser(answer.response.userHandle, passkey.userId)) return undefined
    return { id: passkey.id, userId: passkey.userId, newCounter: authenticationInfo.newCounter }
  } catch {
    // The library throws for every fault of the answer.
    return undefined
  }
}

/** The authenticator may say whose key it is. */
function isOfUser(userHandle: string | undefined, userId: string): boolean {
  return userHandle === undefined || Buffer.from(userHandle, 'base64url').equals(userHandleOf(userId))
}

/** What an authenticator keeps of an account: the bytes of its id. */
export function userHandleOf(userId: string): Buffer {
  return Buffer.from(userId.replaceAll('-', ''), 'hex')
}

/** Writes the use of a passkey. Returns false when it was removed, or its counter was passed in the meantime. */
export async function usePasskey(
  trx: Knex.Transaction,
  { id, newCounter }: VerifiedPasskey,
): Promise<boolean> {
  const used = await query(trx, {
    name: 'passkeys.use',
    text: /* sql */ `
      update passkeys set counter = $2, last_used_at = clock_timestamp()
       where id = $1 and (counter < $2 or (counter = 0 and $2 = 0)) returning 1`,
    values: [id, newCounter],
  })
  return used.length === 1
}

/** To authenticators, the service is the host name of its public URL (WebAuthn: relying party). */
export function relyingParty(publicUrl: string) {
  const { hostname, origin } = new URL(publicUrl)
  return { id: hostname, name: serviceName, origin }
}

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
