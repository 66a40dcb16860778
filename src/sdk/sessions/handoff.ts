import { createHash } from 'node:crypto'
import type { Knex } from 'knex'
import { openBox, sealBox } from '../../kernel/aead.js'
import { DomainError } from '../../kernel/errors.js'
import { hashSecret, newSecret } from '../../kernel/ids.js'
import { query } from '../../platform/database/database.js'
import type { HandoffInput } from '../schemas.js'
import type { PresentedSession } from './auth.js'

const lifeSeconds = 60

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
  const sealed =
    amount === undefined ? sealBox(keyOf(code), Buffer.from(token), Buffer.from(session.id)) : null
  const [made] = await query<{ expiresAt: Date }>(db, {
    name: 'sdk_handoffs.create',
    text: /* sql */ `
      insert into sdk_handoffs (code_hash, session_id, sealed_token, amount_usd, input_mint, expires_at)
      select $1, id, $3, $4, $5, least(expires_at, clock_timestamp() + interval '${lifeSeconds} s')
      from sdk_sessions where id = $2
      returning expires_at as "expiresAt"`,
    values: [hashSecret(code), session.id, sealed, amount ?? null, inputTokenMint ?? null],
  })
  if (made === undefined) throw new DomainError('session_unknown')
  return { code, expiresAt: made.expiresAt.toISOString() }
}

/** Returns the session of a code. A code works once. Throws `invalid_handoff_code`. */
export async function redeemHandoff(
  db: Knex,
  code: string,
): Promise<{ sessionToken: string; expiresAt: string }> {
  const [redeemed] = await query<{ sessionId: string; sealedToken: Buffer; expiresAt: Date }>(db, {
    name: 'sdk_handoffs.redeem',
    text: /* sql */ `
      update sdk_handoffs h set redeemed_at = clock_timestamp()
      from sdk_sessions s
      where h.code_hash = $1 and h.sealed_token is not null and h.redeemed_at is null
        and h.expires_at > clock_timestamp() and s.id = h.session_id
      returning s.id as "sessionId", h.sealed_token as "sealedToken", s.expires_at as "expiresAt"`,
    values: [hashSecret(code)],
  })
  if (redeemed === undefined) throw new DomainError('invalid_handoff_code')
  const token = openBox(keyOf(code), redeemed.sealedToken, Buffer.from(redeemed.sessionId))
  return { sessionToken: token.toString(), expiresAt: redeemed.expiresAt.toISOString() }
}

/** Differs from the stored hash, so a reader of the table can neither present the code nor open the box. */
function keyOf(code: string): Buffer {
  return createHash('sha256').update(`sdk handoff\n${code}`).digest()
}
