import type { Knex } from 'knex'
import { query } from '../../platform/database/database.js'
import type { DueRows } from '../../platform/database/due-rows.js'
import type { TakeOutState } from './lifecycle.js'

export interface TakeOut {
  readonly id: string
  readonly userId: string
  readonly state: TakeOutState
  readonly mint: string
  readonly amount: bigint
  /** The creator's own wallet: pays the fee, signs first, and receives. */
  readonly payoutWallet: string
  /** A unique key in the payment. It finds the transaction even if the wallet has signed it a second time. */
  readonly referenceKey: string
  /** As prepared; once signed, as the wallet has altered it. */
  readonly message: Buffer
  readonly lastValidHeight: bigint
  /** What the wallet signed and handed in last; how many times it did; why that was not signed. */
  readonly handedIn: Buffer | null
  readonly handIns: number
  readonly refusalCode: string | null
  readonly refusal: string | null
  /** Complete. Null until it is signed. */
  readonly transaction: Buffer | null
  /** The wallet's signature, which is the transaction's id. */
  readonly signature: string | null
  readonly createdAt: Date
  readonly signedAt: Date | null
  readonly endedAt: Date | null
  /** It can no longer land, and nobody can say by the chain alone whether it did: a person decides. */
  readonly undecidedAt: Date | null
}

type Row = Omit<TakeOut, 'amount'> & { readonly amount: string }

export const takeOutColumns = /* sql */ `
  t.id, t.user_id as "userId", t.state, t.mint, t.amount::text, t.payout_wallet as "payoutWallet",
  t.reference_key as "referenceKey", t.message, t.last_valid_height as "lastValidHeight", t.handed_in as "handedIn",
  t.hand_ins as "handIns", t.refusal_code as "refusalCode", t.refusal, t.transaction, t.signature,
  t.created_at as "createdAt", t.signed_at as "signedAt", t.ended_at as "endedAt", t.undecided_at as "undecidedAt"`

export function takeOutOf<Stored extends { readonly amount: string }>({
  amount,
  ...row
}: Stored): Omit<Stored, 'amount'> & { amount: bigint } {
  return { ...row, amount: BigInt(amount) }
}

export const takeOutQueue: DueRows = {
  name: 'take-outs',
  table: 'wallet_transfers',
  id: 'uuid',
  batchSize: 32,
  leaseSeconds: 30,
  columns: `${takeOutColumns}, t.attempts`,
  onFinish: { columns: { error: 'text' }, set: 'last_error = s.error' },
}

export type DueTakeOut = TakeOut & { readonly attempts: number }

/** The channel that announces that the custodian has signed a take-out or refused to. */
export const takeOutChannel = (id: string): string => `take-out.${id}`

export async function findTakeOut(db: Knex, userId: string, id: string): Promise<TakeOut | undefined> {
  const [row] = await query<Row>(db, {
    name: 'take-outs.find',
    text: `select ${takeOutColumns} from wallet_transfers t where t.id = $1 and t.user_id = $2`,
    values: [id, userId],
  })
  return row && takeOutOf(row)
}

export async function lockTakeOut(trx: Knex.Transaction, id: string): Promise<TakeOut | undefined> {
  const [row] = await query<Row>(trx, {
    name: 'take-outs.lock',
    text: `select ${takeOutColumns} from wallet_transfers t where t.id = $1 for update`,
    values: [id],
  })
  return row && takeOutOf(row)
}

/** Whether a take-out of this token is signed and not at its end. */
export async function hasSigned(
  db: Knex,
  { userId, mint }: Pick<TakeOut, 'userId' | 'mint'>,
): Promise<boolean> {
  const rows = await query(db, {
    name: 'take-outs.signed',
    text: `select 1 from wallet_transfers where user_id = $1 and mint = $2 and state = 'signed'`,
    values: [userId, mint],
  })
  return rows.length > 0
}
