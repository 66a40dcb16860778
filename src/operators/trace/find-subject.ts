import type { Knex } from 'knex'
import { decodeBase58 } from '../../kernel/base58.js'
import { isFiatIntentId, isIntentId, isPayoutReference, isRefundId, parseUserId } from '../../kernel/ids.js'
import { query } from '../../platform/database/database.js'
import type { Subject } from './story.js'

/** No id, signature, address or e-mail is longer. */
const longest = 320

/**
 * What a text names: a tip's signature or `fiatpay_` id, the reference of a withdrawal or of a charge, an intent, a refund, a
 * creator's id, e-mail, handle or wallet, a take-out, or the request that made one of them. Undefined: nothing of ours.
 */
export async function findSubject(db: Knex, text: string): Promise<Subject | undefined> {
  const given = text.trim()
  if (given === '' || given.length > longest) return undefined
  const candidates = [...queriesFor(given)]
  for (const { kind, name, sql, value } of candidates) {
    const [found] = await query<{ id: string }>(db, {
      name: `trace.find-${name}`,
      text: sql,
      values: [value],
    })
    if (found !== undefined) return { kind, id: found.id }
  }
  return undefined
}

interface Candidate {
  readonly kind: Subject['kind']
  readonly name: string
  readonly sql: string
  readonly value: string
}

/** The look-ups that a text of this form allows. Each uses an index. */
function* queriesFor(given: string): Generator<Candidate> {
  const one = (kind: Subject['kind'], name: string, sql: string, value: string): Candidate => ({
    kind,
    name,
    sql,
    value,
  })
  const lower = given.toLowerCase()
  const bytes = decodeBase58(given)?.length
  if (bytes === 64) {
    yield one('tip', 'tip', 'select id from tips where id = $1', given)
    yield one(
      'creator',
      'take-out-signature',
      'select user_id as id from wallet_transfers where signature = $1',
      given,
    )
  }
  // The provider knows both by a form without capitals and underscores.
  if (isFiatIntentId(lower.replace('-', '_')))
    yield one('tip', 'charge', 'select id from fiat_intents where id = $1', lower.replace('-', '_'))
  if (isPayoutReference(given.toUpperCase()))
    yield one(
      'withdrawal',
      'payout',
      'select reference as id from withdrawals where reference = $1',
      given.toUpperCase(),
    )
  if (isIntentId(lower)) yield one('intent', 'intent', 'select id from payment_intents where id = $1', lower)
  if (isRefundId(lower))
    yield one('tip', 'refund', 'select intent_id as id from refunds where id = $1', lower)
  const userId = parseUserId(given)
  if (userId !== undefined) {
    yield one('creator', 'user', 'select id from users where id = $1', userId)
    yield one('withdrawal', 'payout-id', 'select reference as id from withdrawals where id = $1', userId)
    yield one('creator', 'take-out', 'select user_id as id from wallet_transfers where id = $1', userId)
    yield one(
      'withdrawal',
      'payout-request',
      'select reference as id from withdrawals where request_id = $1',
      userId,
    )
    yield one('intent', 'intent-request', 'select id from payment_intents where request_id = $1', userId)
    yield one('tip', 'claim-request', 'select tip_id as id from tip_claims where request_id = $1', userId)
    yield one('tip', 'tip-request', 'select id from tips where request_id = $1', userId)
  }
  if (bytes === 32) {
    yield one('creator', 'wallet', 'select user_id as id from wallets where public_key = $1', given)
    yield one('creator', 'payout-wallet', 'select user_id as id from payout_wallets where wallet = $1', given)
    yield one('intent', 'reference-key', 'select id from payment_intents where reference_key = $1', given)
  }
  if (lower.includes('@'))
    yield one('creator', 'email', 'select id from users where email = $1', lower.normalize('NFC'))
  if (lower.endsWith('.sol'))
    yield one('creator', 'domain', 'select id from users where lower(sol_domain) = $1', lower)
  if (/^@?[\w.]{1,40}$/.test(lower))
    for (const handle of ['twitter', 'discord'])
      yield one(
        'creator',
        `${handle}-handle`,
        `select id from users where lower(${handle}_handle) = $1`,
        lower.replace('@', ''),
      )
  // The provider's id of a payment.
  if (/^[\w-]{1,100}$/.test(given))
    yield one(
      'tip',
      'payment',
      'select intent_id as id from fiat_payments where provider_transaction = $1',
      given,
    )
}
