import type { Knex } from 'knex'
import { query } from '../../platform/database/database.js'
import type { Services } from '../../services.js'
import { debitsAny, usdcReceived } from '../verify/balance-changes.js'
import { namedIn } from '../verify/load-match-context.js'
import {
  creditKey,
  creditTips,
  type FurtherCredits,
  ownersOf,
  releaseTipCredits,
  usdc,
} from './credit-tips.js'

/** A custody wallet that a tip's transaction paid, and that has no credit for it. */
export interface CreditGap {
  /** The tip. */
  readonly signature: string
  /** The key the credit will have in the ledger. */
  readonly key: string
  readonly wallet: string
  readonly userId: string
  /** Micro-USDC. */
  readonly micro: bigint
  /** Only a final tip may be credited: its transaction cannot vanish any more. */
  readonly final: boolean
}

/** The last tip of a page; the next page starts after it. */
export type TipPosition = string

export const maxDays = 3660
/** Tips of one page. Their transactions are read in batches. */
const pageSize = 256

interface TipRow {
  readonly id: string
  readonly recipient: string
  readonly final: boolean
}

/**
 * Reads one page of confirmed chain tips and their transactions, and compares what custody wallets received with the
 * ledger. `unread`: transactions the chain did not give, which proves nothing.
 */
export async function findCreditGaps(
  { db, chain, config }: Pick<Services, 'db' | 'chain' | 'config'>,
  days: number,
  after: TipPosition | undefined,
): Promise<{ gaps: CreditGap[]; tips: number; unread: number; next: TipPosition | undefined }> {
  const tips = await readTips(db, days, after)
  const transactions = await chain.transactions(tips.map(({ id }) => id))
  const named = [...new Set([...transactions.values()].flatMap(namedIn))]
  const owners = await ownersOf(db, named)
  owners.delete(config.tips.treasuryWallet)
  const wallets = new Set(owners.keys())
  const paid = tips.flatMap((tip) => {
    const transaction = transactions.get(tip.id)
    if (transaction === undefined || transaction.failed || debitsAny(transaction, wallets)) return []
    return [...usdcReceived(chain, transaction, wallets)].map(([wallet, micro]): CreditGap => {
      const key = creditKey(tip.id, wallet === tip.recipient ? undefined : wallet)
      const userId = owners.get(wallet) as string
      return { signature: tip.id, key, wallet, userId, micro, final: tip.final }
    })
  })
  const credited = await readKeys(
    db,
    paid.map(({ key }) => key),
  )
  return {
    gaps: paid.filter(({ key }) => !credited.has(key)),
    tips: tips.length,
    unread: tips.filter(({ id }) => !transactions.has(id)).length,
    next: tips.length === pageSize ? tips.at(-1)?.id : undefined,
  }
}

/**
 * Posts the missing credits of final tips, in the caller's transaction, and returns those that were missing still. The
 * locks on the tips make two operators do it once.
 */
export async function creditGaps(trx: Knex, gaps: readonly CreditGap[]): Promise<CreditGap[]> {
  const ids = [...new Set(gaps.filter(({ final }) => final).map(({ signature }) => signature))]
  const locked = await query<TipRow>(trx, {
    name: 'tips.lock-final',
    text: /* sql */ `
      select t.id, p.wallet as recipient, true as final from tips t join parties p on p.id = t.recipient_party
      where t.id = any($1::text[]) and t.status = 'confirmed' and t.finalized_at is not null order by t.id for update of t`,
    values: [ids],
  })
  const recipients = new Map(locked.map(({ id, recipient }) => [id, recipient]))
  const credited = await readKeys(
    trx,
    gaps.map(({ key }) => key),
  )
  const missing = gaps.filter(({ signature, key }) => recipients.has(signature) && !credited.has(key))
  if (missing.length === 0) return []
  const tips = [...recipients].flatMap(([id, recipient]) => {
    const ofTip = missing.filter(({ signature }) => signature === id)
    const furtherCredits = Object.fromEntries(ofTip.map(({ wallet, micro }) => [wallet, String(micro)]))
    const credits = new Map(ofTip.map(({ wallet, micro }) => [wallet, micro]))
    return ofTip.length === 0 ? [] : [{ id, recipient, token: usdc, credits, furtherCredits }]
  })
  await creditTips(trx, tips)
  await releaseTipCredits(trx, tips)
  await storeFurtherCredits(trx, tips)
  return missing
}

function readTips(db: Knex, days: number, after: TipPosition | undefined): Promise<TipRow[]> {
  return query<TipRow>(db, {
    name: 'tips.uncredited-page',
    text: /* sql */ `
      select t.id, p.wallet as recipient, t.finalized_at is not null as final
      from tips t join parties p on p.id = t.recipient_party
      where t.id > $2 and t.kind = 'chain' and t.status = 'confirmed' and t.confirmed_at >= now() - $1 * interval '1 day'
      order by t.id limit ${pageSize}`,
    values: [days, after ?? ''],
  })
}

async function readKeys(db: Knex, keys: readonly string[]): Promise<ReadonlySet<string>> {
  if (keys.length === 0) return new Set()
  const rows = await query<{ idem: string }>(db, {
    name: 'tips.credit-keys',
    text: 'select idem from ledger_transfers where idem = any($1::text[])',
    values: [keys],
  })
  return new Set(rows.map(({ idem }) => idem))
}

async function storeFurtherCredits(
  trx: Knex,
  tips: readonly { readonly id: string; readonly furtherCredits: FurtherCredits }[],
): Promise<void> {
  await query(trx, {
    name: 'tips.store-further-credits',
    text: /* sql */ `
      update tips t set further_credits = coalesce(t.further_credits, '{}') || f.credits
      from unnest($1::text[], $2::jsonb[]) as f(id, credits) where t.id = f.id`,
    values: [tips.map(({ id }) => id), tips.map(({ furtherCredits }) => JSON.stringify(furtherCredits))],
  })
}
