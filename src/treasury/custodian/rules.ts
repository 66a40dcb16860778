import type { Knex } from 'knex'
import { usdc } from '../../kernel/tokens.js'
import type { CustodyBook } from '../../ledger/custody.js'
import type { Config } from '../../platform/config/config.js'
import { readOwed, sweepableOf } from '../owed.js'

/** The kinds of rows that the custodian signs for. */
export type SigningKind = 'sweep'

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
}
