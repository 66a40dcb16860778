import type { Knex } from 'knex'
import { verifyMessageSignature } from '../../kernel/ed25519.js'
import { usdc } from '../../kernel/tokens.js'
import { type CustodyMove, lockCustody, moveCustody } from '../../ledger/custody.js'
import { spendOwing } from '../../ledger/receivables/receivables.js'
import { query } from '../../platform/database/database.js'
import type { UnitOfWork } from '../../platform/database/transact.js'
import type { ChainTransaction } from '../../ports/chain.js'
import type { LandedMove } from '../custody-move.js'
import { endTakeOut, holdTakeOut, setSignature, setSigned } from './steps.js'
import type { TakeOut } from './take-out.js'

/**
 * Books a take-out that is final on the chain and that these rows have lost in a restore (docs/decisions/0072), or that landed under
 * another signature of its payout wallet. One that was prepared before the backup is completed. Returns its id, and what the creator owes
 * because there was too little. The database refuses more than the creator's book has.
 */
export async function adoptTakeOut(
  uow: UnitOfWork,
  { transaction, moves: [move], destination }: LandedMove,
): Promise<{ readonly id: string; readonly owedMicro: bigint }> {
  if (move === undefined) throw new Error(`${transaction.signature} takes nothing out`)
  const { trx } = uow
  const { signature } = transaction
  const { userId, mint, amount } = move
  const found = await findByKey(trx, transaction, move)
  // Held already. Anybody can name the key, but not sign the message.
  if (
    found?.state === 'signed' &&
    (await verifyMessageSignature(found.payoutWallet, found.message, signature))
  ) {
    await setSignature(trx, found.id, signature)
    await end(uow, found.id)
    return { id: found.id, owedMicro: 0n }
  }
  await lockCustody(trx, [userId], mint)
  await moveCustody(trx, 'sign', [move])
  const prepared = found?.state === 'prepared' ? found.id : undefined
  if (prepared !== undefined) await setSigned(trx, prepared, { signature })
  const id = prepared ?? (await storeSigned(trx, { signature, payoutWallet: destination }, move))
  const debt = { id: `adopted:${id}`, userId, ref: `take-out:${id}`, amountMicro: amount }
  const hold = () => holdTakeOut(trx, { id, userId, mint, amount })
  const owedMicro = mint === usdc.mint ? await spendOwing(trx, debt, hold) : 0n
  await end(uow, id)
  return { id, owedMicro }
}

async function end(uow: UnitOfWork, id: string): Promise<void> {
  if (!(await endTakeOut(uow, id, 'final'))) throw new Error(`take-out ${id} did not end`)
}

/** The take-out under way whose key the transaction names; the signed one of several. */
async function findByKey(
  trx: Knex,
  { accounts }: ChainTransaction,
  { userId, mint, amount }: CustodyMove,
): Promise<Pick<TakeOut, 'id' | 'state' | 'payoutWallet' | 'message'> | undefined> {
  const [row] = await query<Pick<TakeOut, 'id' | 'state' | 'payoutWallet' | 'message'>>(trx, {
    name: 'take-outs.by-key',
    text: /* sql */ `
      select id, state, payout_wallet as "payoutWallet", message from wallet_transfers
      where state in ('prepared', 'signed') and reference_key = any($1::text[]) and user_id = $2 and mint = $3 and amount = $4
      order by state desc for update`,
    values: [[...accounts], userId, mint, String(amount)],
  })
  return row
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
