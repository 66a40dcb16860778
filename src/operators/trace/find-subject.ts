import type { Knex } from 'knex'
import { decodeBase58 } from '../../kernel/base58.js'
import { isFiatIntentId, isIntentId, isPayoutReference, isRefundId, parseUserId } from '../../kernel/ids.js'
import { cleanLine, countCharacters } from '../../kernel/text.js'
import { parseTraceparent } from '../../kernel/trace-context.js'
import { query } from '../../platform/database/database.js'
import type { Subject } from './story.js'

/** No id, signature, address or e-mail is longer. */
const longest = 320

/**
 * What a text names: a tip's signature or `fiatpay_` id, the reference of a withdrawal or of a charge, an intent, a refund, a
 * creator's id, e-mail, handle or wallet, a take-out, or the request that made one of them or its trace, of which one is found.
 * Undefined: nothing of ours.
 */
export async function findSubject(db: Knex, text: string): Promise<Subject | undefined> {
  const given = text.trim()
  if (given === '' || given.length > longest) return undefined
  for (const [kind, name, sql, value] of lookUps(given)) {
    const look = { name: `trace.find-${name}`, text: sql, values: [value] }
    const [found] = await query<{ id: string }>(db, look)
    if (found !== undefined) return { kind, id: found.id }
  }
  return undefined
}

type LookUp = readonly [kind: Subject['kind'], name: string, sql: string, value: string]

/** The look-ups that a text of this form allows. Each uses an index. */
function* lookUps(given: string): Generator<LookUp> {
  const lower = given.toLowerCase()
  const bytes = decodeBase58(given)?.length
  if (bytes === 64) {
    yield ['tip', 'tip', 'select id from tips where id = $1', given]
    yield [
      'creator',
      'take-out-signature',
      'select user_id as id from wallet_transfers where signature = $1',
      given,
    ]
  }
  // The provider knows both by a form without capitals and underscores.
  if (isFiatIntentId(lower.replace('-', '_')))
    yield ['tip', 'charge', 'select id from fiat_intents where id = $1', lower.replace('-', '_')]
  if (isPayoutReference(given.toUpperCase()))
    yield [
      'withdrawal',
      'payout',
      'select reference as id from withdrawals where reference = $1',
      given.toUpperCase(),
    ]
  if (isIntentId(lower)) yield ['intent', 'intent', 'select id from payment_intents where id = $1', lower]
  if (isRefundId(lower)) yield ['tip', 'refund', 'select intent_id as id from refunds where id = $1', lower]
  const userId = parseUserId(given)
  if (userId !== undefined) {
    yield ['creator', 'user', 'select id from users where id = $1', userId]
    yield ['withdrawal', 'payout-id', 'select reference as id from withdrawals where id = $1', userId]
    yield ['creator', 'take-out', 'select user_id as id from wallet_transfers where id = $1', userId]
    yield* madeBy('request', userId)
  }
  const traceId = parseTraceparent(lower)?.traceId ?? traceForm.exec(lower)?.[0]
  if (traceId !== undefined) {
    yield* madeBy('trace', traceId)
    yield* madeBy('request', traceId)
  }
  if (bytes === 32) {
    yield ['creator', 'wallet', 'select user_id as id from wallets where public_key = $1', given]
    yield ['creator', 'payout-wallet', 'select user_id as id from payout_wallets where wallet = $1', given]
    yield ['intent', 'reference-key', 'select id from payment_intents where reference_key = $1', given]
  }
  if (lower.includes('@'))
    yield ['creator', 'email', 'select id from users where email = $1', lower.normalize('NFC')]
  if (lower.endsWith('.sol'))
    yield ['creator', 'domain', 'select id from users where lower(sol_domain) = $1', lower]
  if (/^@?[\w.]{1,40}$/.test(lower))
    for (const handle of ['twitter', 'discord'])
      yield [
        'creator',
        `${handle}-handle`,
        `select id from users where lower(${handle}_handle) = $1`,
        lower.replace('@', ''),
      ]
  // The provider's id of a payment.
  if (/^[\w-]{1,100}$/.test(given))
    yield [
      'tip',
      'payment',
      'select intent_id as id from fiat_payments where provider_transaction = $1',
      given,
    ]
}

/** A creator whose name begins with what was looked for. */
export interface NamedCreator {
  readonly id: string
  readonly name: string
  readonly email: string
  readonly createdAt: Date
}

export const mostNamed = 20
const leastLetters = 2

/** The creators whose name begins so, in any case, the newest first: names are not unique. */
export function findCreatorsByName(db: Knex, text: string): Promise<NamedCreator[]> {
  const begin = cleanLine(text, longest).toLowerCase()
  if (countCharacters(begin) < leastLetters) return Promise.resolve([])
  return query<NamedCreator>(db, {
    name: 'trace.find-names',
    text: /* sql */ `
      select id, name, email, created_at as "createdAt" from users
      where lower(name) like $1 and closed_at is null order by created_at desc limit ${mostNamed}`,
    values: [`${begin.replace(/[\\%_]/g, '\\$&')}%`],
  })
}

const traceForm = /^[\da-f]{32}$/

/** Rows of a request or a trace. A trace may have many of each. */
function* madeBy(what: 'request' | 'trace', id: string): Generator<LookUp> {
  const by = `${what}_id = $1 limit 1`
  yield ['withdrawal', `payout-${what}`, `select reference as id from withdrawals where ${by}`, id]
  yield ['tip', `tip-${what}`, `select id from tips where ${by}`, id]
  yield ['tip', `claim-${what}`, `select tip_id as id from tip_claims where ${by}`, id]
  yield ['intent', `intent-${what}`, `select id from payment_intents where ${by}`, id]
}
