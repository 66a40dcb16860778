import type { Knex } from 'knex'
import { displayText } from '../../kernel/money.js'
import { type Token, tokens, usdc } from '../../kernel/tokens.js'
import { readBalance } from '../../ledger/balance.js'
import { countCustody, readCustody, unboundOf } from '../../ledger/custody.js'
import type { TakeableToken } from './schemas.js'

/** How much of a token may be taken out: what the book has and nothing binds; of USDC at most what may be withdrawn. */
export async function readTakeable(db: Knex, userId: string, { mint }: Token): Promise<bigint> {
  await countCustody(db, mint, [userId])
  const [book] = await readCustody(db, mint, [userId])
  const unbound = book === undefined ? 0n : unboundOf(book)
  if (mint !== usdc.mint) return unbound
  const { available } = await readBalance(db, userId, 'USDC')
  return available < unbound ? available : unbound
}

/** Each token of which something may be taken out. */
export async function listTakeable(db: Knex, userId: string): Promise<TakeableToken[]> {
  const listed: TakeableToken[] = []
  for (const token of tokens) {
    const units = await readTakeable(db, userId, token)
    if (units > 0n)
      listed.push({ mint: token.mint, tokenSymbol: token.symbol, amount: displayText(units, token.decimals) })
  }
  return listed
}
