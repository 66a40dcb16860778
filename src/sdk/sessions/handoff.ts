import { createHash } from 'node:crypto'
import type { Knex } from 'knex'
import { storeSecret, useSecret } from '../../accounts/secrets/secrets.js'
import { openBox, sealBox } from '../../kernel/aead.js'
import { DomainError } from '../../kernel/errors.js'
import { hashSecret, newSecret } from '../../kernel/ids.js'
import type { HandoffInput } from '../schemas.js'
import type { PresentedSession } from './auth.js'

export interface Handoff {
  /** For a link or a QR code. Valid for one minute. */
  readonly code: string
  readonly expiresAt: string
}

/**
 * Creates a code that continues the session on another device. With an amount (USD) and a token, the code only lets a
 * wallet request the transaction of that tip (pay-link.ts). Links never contain the session token itself.
 */
export async function createHandoff(
  db: Knex,
  { session, token }: PresentedSession,
  { amount, inputTokenMint }: HandoffInput,
): Promise<Handoff> {
  const code = newSecret()
  const { id, userId, expiresAt: until } = session
  const redeemed: Redeemed = { sessionToken: token, expiresAt: until.toISOString() }
  const secret = { userId, hash: hashSecret(code), subject: id, until }
  const expiresAt =
    amount === undefined
      ? await storeSecret(db, 'sdk_handoff', {
          ...secret,
          sealed: sealBox(keyOf(code), Buffer.from(JSON.stringify(redeemed)), Buffer.from(id)),
        })
      : await storeSecret(db, 'pay_link', { ...secret, content: `${amount} ${inputTokenMint}` })
  if (expiresAt === undefined) throw new Error('The code was not written')
  return { code, expiresAt: expiresAt.toISOString() }
}

interface Redeemed {
  readonly sessionToken: string
  readonly expiresAt: string
}

/** Returns the session of a code. A code works once. Throws `invalid_handoff_code`. */
export async function redeemHandoff(db: Knex, code: string): Promise<Redeemed> {
  const used = await useSecret(db, 'sdk_handoff', code)
  if (used?.sealed == null || used.subject === null) throw new DomainError('invalid_handoff_code')
  return JSON.parse(openBox(keyOf(code), used.sealed, Buffer.from(used.subject)).toString()) as Redeemed
}

/** Differs from the stored hash, so a reader of the table can neither present the code nor open the box. */
function keyOf(code: string): Buffer {
  return createHash('sha256').update(`sdk handoff\n${code}`).digest()
}
