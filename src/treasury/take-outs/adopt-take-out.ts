import type { Knex } from 'knex'
import { usdc } from '../../kernel/tokens.js'
import { type CustodyMove, lockCustody, moveCustody } from '../../ledger/custody.js'
import { spendOwing } from '../../ledger/receivables/receivables.js'
import { query } from '../../platform/database/database.js'
import type { UnitOfWork } from '../../platform/database/transact.js'
import type { ChainTransaction } from '../../ports/chain.js'
import type { LandedMove } from '../custody-move.js'
import { endTakeOut, holdTakeOut, setSigned } from './steps.js'

/**
 * Books a take-out that is final on the chain and that these rows have lost in a restore (docs/decisions/0072). One that was prepared
 * before the backup is completed. Returns its id, and what the creator owes because there was too little. The database refuses more than
 * the creator's book has.
 */
export async function adoptTakeOut(
  uow: UnitOfWork,
  { transaction, moves: [move], destination }: LandedMove,
): Promise<{ readonly id: string; readonly owedMicro: bigint }> {
  if (move === undefined) throw new Error(`${transaction.signature} takes nothing out`)
  const { trx } = uow
  const { signature } = transaction
  const { userId, mint, amount } = move
  await lockCustody(trx, [userId], mint)
  await moveCustody(trx, 'sign', [move])
  const prepared = await findPrepared(trx, transaction, move)
  if (prepared !== undefined) await setSigned(trx, prepared, { signature })
  const id = prepared ?? (await storeSigned(trx, { signature, payoutWallet: destination }, move))
  const debt = { id: `adopted:${id}`, userId, ref: `take-out:${id}`, amountMicro: amount }
  const hold = () => holdTakeOut(trx, { id, userId, mint, amount })
  const owedMicro = mint === usdc.mint ? await spendOwing(trx, debt, hold) : 0n
  if (!(await endTakeOut(uow, id, 'final'))) throw new Error(`take-out ${id} did not end`)
  return { id, owedMicro }
}

/** The take-out whose key the transaction names. */
async function findPrepared(
  trx: Knex,
  { accounts }: ChainTransaction,
  { userId, mint, amount }: CustodyMove,
): Promise<string | undefined> {
  const [row] = await query<{ id: string }>(trx, {
    name: 'take-outs.prepared-key',
    text: /* sql */ `
      select id from wallet_transfers
      where state = 'prepared' and reference_key = any($1::text[]) and user_id = $2 and mint = $3 and amount = $4 for update`,
    values: [[...accounts], userId, mint, String(amount)],
  })
  return row?.id
}

/** Without its bytes: nobody submits it. The signature stands for the key that is lost. */
async function storeSigned(
  trx: Knex,
  { signature, payoutWallet }: { readonly signature: string; readonly payoutWallet: string },
  { userId, mint, amount }: CustodyMove,
): Promise<string> {
  const [row] = await query<{ id: string }>(trx, {
    name: 'take-outs.adopt',
    text: /* sql */ `
      insert into wallet_transfers (user_id, state, mint, amount, payout_wallet, reference_key, message, last_valid_height, transaction,
        signature, signed_at, due_at)
      values ($1, 'signed', $2, $3, $4, $5, '', 0, '', $5, clock_timestamp(), null) returning id`,
    values: [userId, mint, String(amount), payoutWallet, signature],
  })
  if (row === undefined) throw new Error('the take-out was not stored')
  return row.id
}
