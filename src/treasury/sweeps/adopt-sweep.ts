import type { Knex } from 'knex'
import { usdc } from '../../kernel/tokens.js'
import { lockCustody, moveCustody } from '../../ledger/custody.js'
import { query, write } from '../../platform/database/database.js'
import type { UnitOfWork } from '../../platform/database/transact.js'
import type { LandedMove } from '../custody-move.js'
import { endSweep, moveToTransit, setSent } from './steps.js'

/**
 * Books a sweep that is final on the chain and that these rows have lost in a restore (docs/decisions/0072). One that was signed before
 * the backup is completed. Returns its id. The database refuses more than the books of the creators have.
 */
export async function adoptSweep(
  { trx }: UnitOfWork,
  { transaction, moves, destination }: LandedMove,
  by: string,
): Promise<string> {
  const { signature, feePayer, messageHash } = transaction
  const signed = await findSigned(trx, messageHash)
  const id = signed ?? (await storeSent(trx, { signature, payer: feePayer, treasury: destination, by }))
  if (signed === undefined) {
    await write(trx, {
      name: 'sweeps.adopt-parts',
      text: /* sql */ `
        insert into sweep_parts (sweep_id, user_id, amount)
        select $1, user_id, amount from unnest($2::uuid[], $3::numeric[]) as p(user_id, amount)`,
      values: [id, moves.map(({ userId }) => userId), moves.map(({ amount }) => String(amount))],
    })
    await lockCustody(
      trx,
      moves.map(({ userId }) => userId),
      usdc.mint,
    )
    await moveCustody(trx, 'sign', moves)
    await moveToTransit(trx, id, moves)
  } else await setSent(trx, id, signature)
  if (!(await endSweep({ trx }, id, { from: 'sent', to: 'final' })))
    throw new Error(`sweep ${id} did not end`)
  return id
}

/** The sweep with this message, of which the backup has no payer's signature. */
async function findSigned(trx: Knex, messageHash: string): Promise<string | undefined> {
  const [row] = await query<{ id: string }>(trx, {
    name: 'sweeps.signed-message',
    text: `select id from sweeps where state = 'signed' and encode(sha256(message), 'hex') = $1 for update`,
    values: [messageHash],
  })
  return row?.id
}

/** Without its message: it is never sent. */
async function storeSent(
  trx: Knex,
  sweep: Readonly<Record<'signature' | 'payer' | 'treasury' | 'by', string>>,
): Promise<string> {
  const [row] = await query<{ id: string }>(trx, {
    name: 'sweeps.adopt',
    text: /* sql */ `
      insert into sweeps (state, payer, mint, treasury, planned_by, message, signatures, last_valid_height, signature, signed_at,
        sent_at, due_at)
      values ('sent', $1, $2, $3, $4, '', '{}', 0, $5, clock_timestamp(), clock_timestamp(), null) returning id`,
    values: [sweep.payer, usdc.mint, sweep.treasury, sweep.by, sweep.signature],
  })
  if (row === undefined) throw new Error('the sweep was not stored')
  return row.id
}
