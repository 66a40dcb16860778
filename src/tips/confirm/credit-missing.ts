import type { Knex } from 'knex'
import { usdc } from '../../kernel/tokens.js'
import { query } from '../../platform/database/database.js'
import { creditKey, creditTips, type FurtherCredits, releaseTipCredits } from './credit-tips.js'

/** A custody wallet that the transaction of a recorded signature paid. */
export interface PaidWallet {
  readonly signature: string
  readonly wallet: string
  readonly micro: bigint
}

/**
 * Posts the credits that are missing, in the caller's transaction, and returns them. Their transactions must be final; a
 * tip that is confirmed and not final is skipped. The locks on the tips make two callers do it once, and `further_credits`
 * keeps a later confirmation from doing it again.
 */
export async function creditMissing<Paid extends PaidWallet>(
  trx: Knex,
  paid: readonly Paid[],
): Promise<Paid[]> {
  if (paid.length === 0) return []
  const recipients = await lockTips(trx, [...new Set(paid.map(({ signature }) => signature))])
  const locked = paid.filter(({ signature }) => recipients.has(signature))
  const isCredited = await readCredited(trx, locked, (signature) => recipients.get(signature))
  const missing = locked.filter((one) => !isCredited(one))
  const tips = [...recipients].flatMap(([id, recipient]) => {
    const ofTip = missing.filter(({ signature }) => signature === id)
    const credits = new Map(ofTip.map(({ wallet, micro }) => [wallet, micro]))
    const furtherCredits = Object.fromEntries(ofTip.map(({ wallet, micro }) => [wallet, String(micro)]))
    return ofTip.length === 0 ? [] : [{ id, recipient, token: usdc, credits, furtherCredits }]
  })
  if (tips.length === 0) return []
  await creditTips(trx, tips)
  await releaseTipCredits(trx, tips)
  await storeFurtherCredits(trx, tips)
  return missing
}

/** Whether a wallet has its credit for a signature, as the recipient of the tip or as another wallet. */
export async function readCredited(
  db: Knex,
  paid: readonly PaidWallet[],
  recipientOf: (signature: string) => string | null | undefined,
): Promise<(one: PaidWallet) => boolean> {
  const keysOf = ({ signature, wallet }: PaidWallet): string[] => [
    creditKey(signature, wallet),
    ...(wallet === recipientOf(signature) ? [creditKey(signature)] : []),
  ]
  const rows = await query<{ idem: string }>(db, {
    name: 'tips.credit-keys',
    text: 'select idem from ledger_transfers where idem = any($1::text[])',
    values: [paid.flatMap(keysOf)],
  })
  const used = new Set(rows.map(({ idem }) => idem))
  return (one) => keysOf(one).some((key) => used.has(key))
}

/**
 * Locks final tips, and signatures that are no tips. Returns their recipients, null where there is no tip. A separate
 * statement reads them, because one that waited for a lock would not see a recipient stored meanwhile.
 */
async function lockTips(trx: Knex, ids: readonly string[]): Promise<Map<string, string | null>> {
  const locked = await query<{ id: string }>(trx, {
    name: 'tips.lock-final',
    text: /* sql */ `
      select id from tips
      where id = any($1::text[]) and (status = 'pending' or (status = 'confirmed' and finalized_at is not null))
      order by id for update`,
    values: [ids],
  })
  const rows = await query<{ id: string; recipient: string | null }>(trx, {
    name: 'tips.recipients',
    text: /* sql */ `
      select t.id, coalesce(t.paid_wallet, p.wallet) as recipient from tips t left join parties p on p.id = t.recipient_party
      where t.id = any($1::text[])`,
    values: [locked.map(({ id }) => id)],
  })
  return new Map(rows.map(({ id, recipient }) => [id, recipient]))
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
