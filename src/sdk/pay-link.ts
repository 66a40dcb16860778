import type { Knex } from 'knex'
import { createIntent } from '../intents/create-intent.js'
import { DomainError } from '../kernel/errors.js'
import { hashSecret } from '../kernel/ids.js'
import type { Origin } from '../kernel/trace-context.js'
import type { TokenPrices } from '../market/token-prices.js'
import { query } from '../platform/database/database.js'
import { countedSession } from './sessions/session.js'

/** The session and the tip of a payment link. */
export interface PayLink {
  readonly sessionId: string
  readonly userId: string
  readonly creatorName: string
  /** USD as decimal text. */
  readonly amountUsd: string
  readonly inputMint: string
}

/**
 * Finds the tip of a Solana Pay link, within its minute. The code may be used several times: a wallet reads the tip
 * first and may request the transaction twice. Throws `not_found`.
 */
export async function findPayLink(db: Knex, code: string): Promise<PayLink> {
  const [link] = await query<PayLink>(db, {
    name: 'secrets.pay-link',
    text: /* sql */ `
      select s.subject as "sessionId", u.id as "userId", u.name as "creatorName",
             trim_scale(split_part(s.content, ' ', 1)::numeric)::text as "amountUsd", split_part(s.content, ' ', 2) as "inputMint"
      from one_time_secrets s join users u on u.id = s.user_id
      where s.hash = $1 and s.purpose = 'pay_link' and s.expires_at > now()`,
    values: [hashSecret(code)],
  })
  if (link === undefined) throw new DomainError('not_found')
  return link
}

/** Creates an intent for the link's tip, to be paid by the wallet `account`. Throws the errors of POST /sdk/tip. */
export async function createPayLinkTransaction(
  services: Parameters<typeof createIntent>[0],
  prices: TokenPrices,
  { code, account }: { readonly code: string; readonly account: string },
  origin: Origin,
): Promise<{ transaction: string; message: string }> {
  const link = await findPayLink(services.db, code)
  const intent = {
    creatorId: link.userId,
    amountUsd: Number(link.amountUsd),
    inputTokenMint: link.inputMint,
    sourceWalletAddress: account,
  }
  const sdkSession = countedSession(services.config.sdk, link.sessionId)
  const { transaction } = await createIntent(services, prices, intent, { sdkSession, origin })
  return { transaction, message: `Tip ${link.creatorName} $${link.amountUsd}` }
}
