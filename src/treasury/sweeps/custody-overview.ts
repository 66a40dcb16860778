import type { Knex } from 'knex'
import { usdc } from '../../kernel/tokens.js'
import { type CustodyBook, countCustody, readCustody, unboundOf } from '../../ledger/custody.js'
import { query } from '../../platform/database/database.js'
import type { TokenSource } from '../../ports/custody-chain.js'
import type { Services } from '../../services.js'
import { readOwed, sweepableOf } from '../owed.js'

/** One token of one creator: what the book says, and what the chain has, in base units. */
export interface CustodyView extends CustodyBook {
  readonly wallet: string
  readonly owed: bigint
  readonly onChain: bigint
  readonly fault: TokenSource['fault']
  /** What may go to the treasury. 0 while the chain has less than the book, or the account cannot pay. */
  readonly sweepable: bigint
  /** What the chain has beyond the book: sent there directly, or not final yet. Never swept. */
  readonly unattributed: bigint
  readonly shortage: bigint
}

type Needs = Pick<Services, 'db' | 'config' | 'custodyChain'>

/**
 * Every custody wallet with its book of USDC and what the finalized chain has. The books are read first, so that what becomes
 * final meanwhile is no shortage; what seems to lack is read twice, because a sweep may have landed meanwhile.
 */
export async function viewCustody(
  services: Needs,
  report: (done: number, of: number) => void = () => undefined,
): Promise<CustodyView[]> {
  const wallets = await readWallets(services.db, null)
  const views: CustodyView[] = []
  for (let at = 0; at < wallets.length; at += walletsPerRead) {
    views.push(...(await viewWallets(services, wallets.slice(at, at + walletsPerRead))))
    report(views.length, wallets.length)
  }
  const short = new Set(views.filter(({ shortage }) => shortage > 0n).map(({ userId }) => userId))
  if (short.size === 0) return views
  const again = await viewWallets(
    services,
    wallets.filter(({ userId }) => short.has(userId)),
  )
  const second = new Map(again.map((view) => [view.userId, view]))
  return views.map((view) => second.get(view.userId) ?? view)
}

export async function viewCreators(services: Needs, userIds: readonly string[]): Promise<CustodyView[]> {
  return viewWallets(services, await readWallets(services.db, userIds))
}

/** Creators whose books and accounts are read at a time. */
const walletsPerRead = 500

interface WalletName {
  readonly userId: string
  readonly wallet: string
}

async function viewWallets(services: Needs, wallets: readonly WalletName[]): Promise<CustodyView[]> {
  if (wallets.length === 0) return []
  const { db, config, custodyChain } = services
  const userIds = wallets.map(({ userId }) => userId)
  await countCustody(db, usdc.mint, userIds)
  const books = new Map((await readCustody(db, usdc.mint, userIds)).map((book) => [book.userId, book]))
  const owed = await readOwed(db, config.treasury.sweepAfterHours, userIds)
  const names = wallets.map(({ wallet }) => ({ wallet, mint: usdc.mint }))
  const sources = await custodyChain.readSources(names, 'finalized')
  return wallets.map(({ userId, wallet }, index) => {
    const book = books.get(userId) ?? emptyBook(userId)
    const source = sources[index] ?? { amount: 0n, fault: 'closed' as const }
    return viewOf(book, wallet, owed.get(userId) ?? 0n, source)
  })
}

function viewOf(
  book: CustodyBook,
  wallet: string,
  owed: bigint,
  { amount: onChain, fault }: TokenSource,
): CustodyView {
  const shortage = positive(unboundOf(book) - onChain)
  const sweepable = shortage > 0n || fault !== undefined ? 0n : sweepableOf(book, owed)
  const unattributed = positive(onChain - (book.final - book.swept - book.takenOut))
  return { ...book, wallet, owed, onChain, fault, sweepable, unattributed, shortage }
}

function emptyBook(userId: string): CustodyBook {
  return { userId, mint: usdc.mint, final: 0n, swept: 0n, takenOut: 0n, inFlight: 0n }
}

function positive(units: bigint): bigint {
  return units > 0n ? units : 0n
}

function readWallets(db: Knex, userIds: readonly string[] | null): Promise<WalletName[]> {
  return query(db, {
    name: 'treasury.wallets',
    text: /* sql */ `
      select user_id as "userId", public_key as wallet from wallets
      where public_key is not null and ($1::uuid[] is null or user_id = any($1)) order by user_id`,
    values: [userIds],
  })
}
