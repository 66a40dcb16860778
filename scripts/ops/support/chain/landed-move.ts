import type { Composed } from '../../../../src/compose.js'
import { ownersOf } from '../../../../src/tips/confirm/credit-tips.js'
import { namedIn } from '../../../../src/tips/verify/load-match-context.js'
import { type LandedMove, moveIn } from '../../../../src/treasury/custody-move.js'
import { RefusedError } from '../order.js'

/** The move that a transaction made, which must be final and of this kind. Throws RefusedError, ProviderError. */
export async function readLandedMove(
  { chain, custodyChain, config, db }: Composed,
  signature: string,
  kind: LandedMove['kind'],
): Promise<LandedMove> {
  const isKnown =
    (await db('sweeps').where({ signature }).first('id')) ??
    (await db('wallet_transfers').where({ signature }).first('id'))
  if (isKnown !== undefined) throw new RefusedError(`${signature} is booked already: nothing to adopt`)
  const transaction = (await chain.transactions([signature])).get(signature)
  if (transaction === undefined || transaction.failed)
    throw new RefusedError(`the chain does not show a successful transaction ${signature}`)
  const owners = await ownersOf(db, namedIn(transaction))
  const move = moveIn(chain, transaction, owners, config.tips.treasuryWallet)
  if (move?.kind !== kind)
    throw new RefusedError(
      `transaction ${signature} is ${move?.kind ?? 'no move of a custody wallet'}, not ${kind}`,
    )
  const [fate] = await custodyChain.fates([{ signature, lastValidHeight: 0 }])
  if (fate?.kind !== 'final')
    throw new RefusedError(`transaction ${signature} is not final yet: run this again`)
  return move
}

/** Says what a refusal of the database means. Throws RefusedError for those, and everything else as it is. */
export function explainMove(error: unknown): never {
  const { constraint } = error as { constraint?: unknown }
  if (constraint === 'custody_covered')
    throw new RefusedError(
      "the creators' books have less than it moved: record the lost payments first, with find-uncredited --since, and run " +
        'this again once they are credited',
    )
  if (constraint === 'wallet_transfers_signed')
    throw new RefusedError(
      'another take-out of this creator and token is under way: run this again when it has ended',
    )
  throw error
}
