import type { Knex } from 'knex'
import { type Token, usdc } from '../../kernel/tokens.js'
import { platformAccount, transferEntries, userAccount } from '../../ledger/accounts.js'
import { releasePending, reserveMany } from '../../ledger/bulk-transfers.js'
import { findTransfer } from '../../ledger/post-statement.js'
import { voidReserved } from '../../ledger/transfers.js'
import { query, write } from '../../platform/database/database.js'

export interface TipCredit {
  readonly id: string
  /** Null for a transaction that is no tip. */
  readonly recipient: string | null
  readonly token: Token
  /** Micro-USDC by wallet. A wallet that is not in our custody gets no credit. */
  readonly credits: ReadonlyMap<string, bigint>
}

/**
 * The credits of a tip besides its own amount: micro-USDC as decimal text, by wallet. One transaction may pay several
 * creators, and a recipient of SOL may receive USDC too. Undefined when there are none.
 */
export type FurtherCredits = Readonly<Record<string, string>>

/** A stored tip whose credits are resolved. */
export interface CreditedTip {
  readonly id: string
  readonly furtherCredits?: FurtherCredits | null | undefined
}

/**
 * The key of the ledger transfer: one credit per signature and wallet (docs/decisions/0007). `wallet`: one that the tip's
 * transaction paid besides the tip's recipient.
 */
export function creditKey(tipId: string, wallet?: string): string {
  return wallet === undefined ? `tip:${tipId}` : `tip:${tipId}:${wallet}`
}

export function furtherCredits({
  recipient,
  token,
  credits,
}: Omit<TipCredit, 'id'>): FurtherCredits | undefined {
  const further = [...credits].filter(([wallet]) => wallet !== recipient || token !== usdc)
  if (further.length === 0) return undefined
  return Object.fromEntries(further.map(([wallet, amount]) => [wallet, String(amount)]))
}

/**
 * Reserves pending credits for the USDC that arrived in custody wallets. Other tokens and payout wallets get no credit:
 * only USDC is withdrawn, and only from custody wallets.
 */
export async function creditTips(trx: Knex, tips: readonly TipCredit[]): Promise<void> {
  const wallets = new Set(tips.flatMap(({ credits }) => [...credits.keys()]))
  if (wallets.size === 0) return
  const owners = await ownersOf(trx, [...wallets])
  const transfers = tips.flatMap(({ id, recipient, credits }) =>
    [...credits].flatMap(([wallet, amount]) => {
      const userId = owners.get(wallet)
      if (userId === undefined) return []
      const entries = transferEntries(
        amount,
        platformAccount('custody_wallets', 'USDC'),
        userAccount(userId, 'pending', 'USDC'),
      )
      return [{ key: creditKey(id, wallet === recipient ? undefined : wallet), ref: id, entries }]
    }),
  )
  await reserveMany(trx, transfers)
}

/** Makes the credits of finalized tips available. Ignores tips without a credit. Returns their owners. */
export function releaseTipCredits(trx: Knex, tips: readonly CreditedTip[]): Promise<ReadonlySet<string>> {
  return releasePending(trx, tips.flatMap(creditKeys))
}

/** Voids the pending credits of a vanished tip, if it has any. */
export async function voidTipCredits(trx: Knex, tip: CreditedTip): Promise<void> {
  for (const key of creditKeys(tip).sort())
    if ((await findTransfer(trx, key)) !== undefined) await voidReserved(trx, key)
}

/** The keys under which a tip may have credits. */
export function creditKeys({ id, furtherCredits }: CreditedTip): string[] {
  return [creditKey(id), ...Object.keys(furtherCredits ?? {}).map((wallet) => creditKey(id, wallet))]
}

/** The owners of custody wallets. The table refuses a public key without its sealed secret key. */
export async function ownersOf(trx: Knex, wallets: readonly string[]): Promise<Map<string, string>> {
  const rows = await query<{ wallet: string; userId: string }>(trx, {
    name: 'tips.owners',
    text: 'select public_key as wallet, user_id as "userId" from wallets where public_key = any($1::text[])',
    values: [wallets],
  })
  return new Map(rows.map(({ wallet, userId }) => [wallet, userId]))
}

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
  await write(trx, {
    name: 'tips.store-further-credits',
    text: /* sql */ `
      update tips t set further_credits = coalesce(t.further_credits, '{}') || f.credits
      from unnest($1::text[], $2::jsonb[]) as f(id, credits) where t.id = f.id`,
    values: [tips.map(({ id }) => id), tips.map(({ furtherCredits }) => JSON.stringify(furtherCredits))],
  })
}
