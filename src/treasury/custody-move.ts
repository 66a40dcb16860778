import type { Knex } from 'knex'
import { sumOf } from '../kernel/money.js'
import { type Token, tokens, usdc } from '../kernel/tokens.js'
import { type CustodyMove, countCustody, readCustody, unboundOf } from '../ledger/custody.js'
import { query } from '../platform/database/database.js'
import type { ChainTransaction } from '../ports/chain.js'
import type { Services } from '../services.js'
import { type AssociatedAccounts, amountReceived, balanceChange } from '../tips/verify/balance-changes.js'
import { SigningRefused } from './custodian/sign-message.js'

/**
 * What a transaction took from custody wallets. `sweep`: USDC, to the treasury. `take_out`: one token of one wallet, to who pays the
 * fee. `outflow`: anything else, which the service never signs.
 */
export interface LandedMove {
  readonly kind: 'sweep' | 'take_out' | 'outflow'
  readonly transaction: ChainTransaction
  readonly moves: readonly (CustodyMove & { readonly wallet: string })[]
  /** Where it went: the treasury, or who paid the fee. */
  readonly destination: string
}

/** Throws SigningRefused. */
export async function readCustodyWallet(db: Knex, userId: string): Promise<string> {
  const [row] = await query<{ wallet: string }>(db, {
    name: 'take-outs.wallet',
    text: 'select public_key as wallet from wallets where user_id = $1 and public_key is not null',
    values: [userId],
  })
  if (row === undefined) throw new SigningRefused({ reason: 'there is no custody wallet' })
  return row.wallet
}

/** What else may have made a custody wallet short. */
export const otherShortage =
  'another move of this wallet did, or the wallet is short for another reason. See ops sweep'

/**
 * Whether the tokens of a signed move are gone from the custody wallet. Who floods the key of a payment, and an endpoint that has lost its
 * history, can hide a transaction, not this. As if nothing else under way had landed: another signed move must not hide this one.
 */
export async function hasLeft(
  { db, custodyChain }: Pick<Services, 'db' | 'custodyChain'>,
  { userId, mint }: Omit<CustodyMove, 'amount'>,
): Promise<boolean> {
  await countCustody(db, mint, [userId])
  const [book] = await readCustody(db, mint, [userId])
  const wallet = await readCustodyWallet(db, userId)
  const [source] = await custodyChain.readSources([{ wallet, mint }], 'finalized')
  return book === undefined || source === undefined || source.amount < unboundOf({ ...book, inFlight: 0n })
}

/** Undefined: it takes nothing. `owners`: the users of the custody wallets that it names. */
export function moveIn(
  chain: AssociatedAccounts,
  transaction: ChainTransaction,
  owners: ReadonlyMap<string, string>,
  treasury: string,
): LandedMove | undefined {
  const moves = [...owners].flatMap(([wallet, userId]) =>
    tokens.flatMap((token) => {
      const amount = -amountReceived(chain, transaction, wallet, token)
      return amount > 0n ? [{ wallet, userId, mint: token.mint, token, amount }] : []
    }),
  )
  const [first] = moves
  if (first === undefined) return undefined
  const sum = sumOf(moves, ({ amount }) => amount)
  const { feePayer } = transaction
  const given = (token: Token) => balanceChange(transaction, feePayer, token)
  const parts = moves.map(({ token: _, ...move }) => move)
  const isSweep =
    moves.every(({ token }) => token === usdc) && amountReceived(chain, transaction, treasury, usdc) >= sum
  if (isSweep) return { kind: 'sweep', transaction, moves: parts, destination: treasury }
  const isTakeOut = moves.length === 1 && !owners.has(feePayer) && given(first.token) === first.amount
  return { kind: isTakeOut ? 'take_out' : 'outflow', transaction, moves: parts, destination: feePayer }
}
