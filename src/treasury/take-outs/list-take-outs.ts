import { pageOf, timePosition, timePositionFrom } from '../../http/paging.js'
import { transactionLifeMs } from '../../intents/present.js'
import { DomainError } from '../../kernel/errors.js'
import { displayText } from '../../kernel/money.js'
import { type Token, tokenByMint } from '../../kernel/tokens.js'
import { queryInIndexOrder } from '../../platform/database/index-order.js'
import type { Services } from '../../services.js'
import type { Transfer, TransfersInput } from './schemas.js'
import { findTakeOut, type TakeOut, takeOutColumns, takeOutOf } from './take-out.js'

const anyId = '00000000-0000-0000-0000-000000000000'
type Needs = Pick<Services, 'custodyChain' | 'db'>

/** A creator's take-outs, newest first. Reads one row more than the page, to know whether there is a next page. */
export async function listTakeOuts(
  services: Needs,
  userId: string,
  { cursor, limit }: TransfersInput,
): Promise<{ readonly transfers: Transfer[]; readonly next: string | undefined }> {
  const [beforeMs, beforeId] = timePositionFrom(cursor, anyId)
  const rows = await queryInIndexOrder<Omit<TakeOut, 'amount'> & { readonly amount: string }>(services.db, {
    name: 'take-outs.list',
    text: /* sql */ `
        select ${takeOutColumns} from wallet_transfers t
        where t.user_id = $1 and (t.created_at, t.id) < ('epoch'::timestamptz + $2::float8 * interval '1 ms', $3::uuid)
        order by t.created_at desc, t.id desc limit $4`,
    values: [userId, beforeMs, beforeId, limit + 1],
  })
  const { page, last } = pageOf(rows, limit)
  return {
    transfers: page.map((row) => presentTakeOut(services, takeOutOf(row))),
    next: last && timePosition(last.createdAt, last.id),
  }
}

/** One of the creator's take-outs. Throws `transfer_not_found`. */
export async function readTakeOut(services: Needs, userId: string, id: string): Promise<Transfer> {
  const takeOut = await findTakeOut(services.db, userId, id)
  if (takeOut === undefined) throw new DomainError('transfer_not_found')
  return presentTakeOut(services, takeOut)
}

export function presentTakeOut(
  { custodyChain }: Pick<Needs, 'custodyChain'>,
  { id, state, mint, amount, payoutWallet, signature, ...takeOut }: TakeOut,
): Transfer {
  const { symbol, decimals } = tokenByMint(mint) as Token
  const bytes =
    state === 'prepared'
      ? custodyChain.unsigned(takeOut.message)
      : state === 'signed'
        ? takeOut.transaction
        : null
  return {
    id,
    status: state,
    mint,
    tokenSymbol: symbol,
    amount: displayText(amount, decimals),
    wallet: payoutWallet,
    transaction: bytes === null ? null : Buffer.from(bytes).toString('base64'),
    signature,
    lastValidBlockHeight: Number(takeOut.lastValidHeight),
    createdAt: takeOut.createdAt.toISOString(),
    expiresAt: new Date(takeOut.createdAt.getTime() + transactionLifeMs).toISOString(),
    signedAt: takeOut.signedAt?.toISOString() ?? null,
    endedAt: takeOut.endedAt?.toISOString() ?? null,
  }
}
