import type { Knex } from 'knex'
import { usdc } from '../../kernel/tokens.js'
import { readBalance } from '../../ledger/accounts.js'
import { type CustodyBook, unboundOf } from '../../ledger/custody.js'
import { owesReceivable } from '../../ledger/receivables/read-receivables.js'
import type { Config } from '../../platform/config/config.js'
import { query } from '../../platform/database/database.js'
import { readOwed, sweepableOf } from '../owed.js'

export type SigningKind = 'sweep' | 'takeOut'

/** Lighthouse: wallets add instructions of it that fail the transaction if it does something else than it showed. */
const lighthouse = 'L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95'

type Settings = { readonly config: Pick<Config, 'tips' | 'treasury'> }

/** What one kind of row may do. It is read from the rows of others, never from the row itself. */
export interface SigningRule {
  /** Where a creator's tokens may go. A creator without an entry: nowhere. */
  destinations(
    trx: Knex.Transaction,
    services: Settings,
    userIds: readonly string[],
  ): Promise<ReadonlyMap<string, string>>
  /** How much of each book may go, in the order of the books. They are locked and counted. */
  limits(trx: Knex.Transaction, services: Settings, books: readonly CustodyBook[]): Promise<readonly bigint[]>
  /** Programs of wallets that may have put instructions of their own into the message. */
  readonly guards: ReadonlySet<string>
}

export const rules: Readonly<Record<SigningKind, SigningRule>> = {
  /** To the treasury, and only what the platform has paid for. */
  sweep: {
    destinations: async (_trx, { config }, userIds) =>
      new Map(userIds.map((userId) => [userId, config.tips.treasuryWallet])),
    async limits(trx, { config }, books) {
      const owed = await readOwed(
        trx,
        config.treasury.sweepAfterHours,
        books.map(({ userId }) => userId),
      )
      return books.map((book) =>
        book.mint === usdc.mint ? sweepableOf(book, owed.get(book.userId) ?? 0n) : 0n,
      )
    },
    guards: new Set(),
  },
  /** To the creator's proven payout wallet: all that nothing binds, and of USDC only what could be withdrawn. */
  takeOut: {
    async destinations(trx, _services, userIds) {
      const rows = await query<{ userId: string; wallet: string }>(trx, {
        name: 'custodian.payout-wallets',
        text: /* sql */ `
          select p.user_id as "userId", p.wallet from payout_wallets p join users u on u.id = p.user_id
          where p.user_id = any($1::uuid[]) and u.frozen_at is null and u.closed_at is null`,
        values: [userIds],
      })
      return new Map(rows.map(({ userId, wallet }) => [userId, wallet]))
    },
    async limits(trx, _services, books) {
      const limits: bigint[] = []
      for (const book of books) limits.push(await takeOutLimit(trx, book))
      return limits
    },
    guards: new Set([lighthouse]),
  },
}

async function takeOutLimit(trx: Knex.Transaction, book: CustodyBook): Promise<bigint> {
  if (await owesReceivable(trx, book.userId)) return 0n
  const unbound = unboundOf(book)
  if (book.mint !== usdc.mint) return unbound
  const { available } = await readBalance(trx, book.userId, 'USDC')
  return available < unbound ? available : unbound
}
