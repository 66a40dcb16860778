import type { Knex } from 'knex'
import { createIntent } from '../intents/create-intent.js'
import { DomainError } from '../kernel/errors.js'
import { secretHash } from '../kernel/ids.js'
import type { TokenPrices } from '../market/token-prices.js'
import { query } from '../platform/database/database.js'

/** What a payment link is bound to. */
export interface PayLink {
  readonly sessionId: string
  readonly userId: string
  readonly creatorName: string
  /** USD as decimal text. */
  readonly amountUsd: string
  readonly inputMint: string
}

/**
 * The tip behind the code of a Solana Pay link, within its minute; a wallet reads it first and then asks for the
 * transaction, perhaps twice. Throws `not_found`.
 */
export async function findPayLink(db: Knex, code: string): Promise<PayLink> {
  const [link] = await query<PayLink>(db, {
    name: 'sdk_handoffs.pay-link',
    text: /* sql */ `
      select s.id as "sessionId", s.user_id as "userId", u.name as "creatorName",
             trim_scale(h.amount_usd)::text as "amountUsd", h.input_mint as "inputMint"
      from sdk_handoffs h join sdk_sessions s on s.id = h.session_id join users u on u.id = s.user_id
      where h.code_hash = $1 and h.amount_usd is not null and h.expires_at > now()`,
    values: [secretHash(code)],
  })
  if (link === undefined) throw new DomainError('not_found')
  return link
}

/** The transaction of that tip for the wallet `account`, as one of the session's intents; refused as /sdk/tip does. */
export async function payLink(
  services: Parameters<typeof createIntent>[0],
  prices: TokenPrices,
  { code, account }: { readonly code: string; readonly account: string },
): Promise<{ transaction: string; message: string }> {
  const link = await findPayLink(services.db, code)
  const intent = {
    creatorId: link.userId,
    amountUsd: Number(link.amountUsd),
    inputTokenMint: link.inputMint,
    sourceWalletAddress: account,
  }
  const { transaction } = await createIntent(services, prices, intent, link.sessionId)
  return { transaction, message: `Tip ${link.creatorName} $${link.amountUsd}` }
}
