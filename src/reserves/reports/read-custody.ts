import { setTimeout as sleep } from 'node:timers/promises'
import type { Knex } from 'knex'
import { most } from '../../kernel/money.js'
import { ProviderError } from '../../kernel/provider-error.js'
import { usdc } from '../../kernel/tokens.js'
import { countCustody } from '../../ledger/custody.js'
import { query } from '../../platform/database/database.js'
import type { Chain } from '../../ports/chain.js'
import type { Services } from '../../services.js'

/** A custody wallet that holds less than our book says. Micro-USDC as decimal text, so that it can be stored as JSON. */
export interface ShortWallet {
  readonly wallet: string
  readonly book: string
  readonly chain: string
}

/** All custody wallets, on the chain and in our book. Micro-USDC. */
export interface CustodyTotals {
  readonly wallets: number
  readonly book: bigint
  readonly chain: bigint
  /** What wallets lack. What others have beyond the book does not make up for it: it is not ours to move. */
  readonly short: bigint
  readonly shortCount: number
  readonly shortWallets: readonly ShortWallet[]
  /** The oldest slot that was read at. */
  readonly slot: bigint
}

interface BookRow {
  readonly wallet: string
  /** What is there by the book, and what is certainly there: a signed transaction may have moved the rest already. */
  readonly book: bigint
  readonly least: bigint
}

const pageSize = 1000
const catchUpMs = 2000
const catchUpTries = 20
/** So many short wallets are named. More of them are counted. */
const maxNamed = 100

/**
 * Reads every custody wallet at the finalized height, page by page. The book is read before the chain, and only what is final is in
 * it, so what lands meanwhile is more than the book and never less. A wallet that seems short is read again, with the book before
 * it: a transaction may have been signed and landed in between.
 */
export async function readCustodyTotals(
  { db, chain }: Pick<Services, 'db' | 'chain'>,
  onProgress: (wallets: number) => void = () => undefined,
): Promise<CustodyTotals> {
  await countCustody(db)
  let totals: CustodyTotals = {
    wallets: 0,
    book: 0n,
    chain: 0n,
    short: 0n,
    shortCount: 0,
    shortWallets: [],
    slot: 0n,
  }
  for (let after = ''; ; ) {
    const page = await readBooks(db, { after, limit: pageSize })
    if (page.length === 0) return totals
    totals = await addPage({ db, chain }, totals, page)
    onProgress(totals.wallets)
    after = page.at(-1)?.wallet ?? ''
  }
}

async function addPage(
  { db, chain }: Pick<Services, 'db' | 'chain'>,
  totals: CustodyTotals,
  page: readonly BookRow[],
): Promise<CustodyTotals> {
  const { slot, newestSlot, amounts } = await readWallets(chain, page, 0n)
  const suspected = page.filter(({ least }, index) => (amounts[index] ?? 0n) < least)
  const short = await readAgain({ db, chain }, suspected, newestSlot)
  const lack = (row: ShortWallet): bigint => BigInt(row.book) - BigInt(row.chain)
  return {
    wallets: totals.wallets + page.length,
    book: page.reduce((sum, { book }) => sum + book, totals.book),
    chain: amounts.reduce((sum, amount) => sum + amount, totals.chain),
    short: short.reduce((sum, row) => sum + lack(row), totals.short),
    shortCount: totals.shortCount + short.length,
    shortWallets: [...totals.shortWallets, ...short].slice(0, maxNamed),
    slot: totals.wallets === 0 || slot < totals.slot ? slot : totals.slot,
  }
}

/**
 * Those of the wallets that are short again, on nodes that have finalized every tip that our book counts for them, and what any of
 * them had when they were first read: a credit that is no tip has no slot here.
 */
async function readAgain(
  { db, chain }: Pick<Services, 'db' | 'chain'>,
  suspected: readonly BookRow[],
  seenSlot: bigint,
): Promise<ShortWallet[]> {
  if (suspected.length === 0) return []
  const wallets = suspected.map(({ wallet }) => wallet)
  const rows = await readBooks(db, { wallets })
  const minSlot = most(seenSlot, await newestSlotOf(db, wallets))
  const { amounts } = await untilCaughtUp(() => readWallets(chain, rows, minSlot))
  return rows.flatMap(({ wallet, least }, index) => {
    const amount = amounts[index] ?? 0n
    return amount < least ? [{ wallet, book: String(least), chain: String(amount) }] : []
  })
}

/** Endpoints are some slots apart: one that is behind the others gets the time to catch up. */
async function untilCaughtUp<Result>(read: () => Promise<Result>): Promise<Result> {
  for (let tries = catchUpTries; ; tries--) {
    try {
      return await read()
    } catch (error) {
      if (!(error instanceof ProviderError && error.kind === 'unavailable') || tries <= 1) throw error
      await sleep(catchUpMs)
    }
  }
}

function readWallets(chain: Chain, rows: readonly BookRow[], minSlot: bigint) {
  return chain.finalizedHoldings(
    rows.map(({ wallet }) => ({ wallet, mint: usdc.mint })),
    minSlot,
  )
}

/** Custody wallets with their book, in the order of their addresses: a page of all, or these. */
async function readBooks(
  db: Knex,
  which: { readonly after: string; readonly limit: number } | { readonly wallets: readonly string[] },
): Promise<BookRow[]> {
  const named = 'wallets' in which
  const rows = await query<{ wallet: string; book: string; least: string }>(db, {
    name: named ? 'reserves.books-of' : 'reserves.books',
    text: /* sql */ `
      select w.public_key as wallet,
        coalesce(c.final - c.swept - c.taken_out, 0)::text as book,
        coalesce(c.final - c.swept - c.taken_out - c.in_flight, 0)::text as least
      from wallets w left join custody c on c.user_id = w.user_id and c.mint = $1
      where w.public_key is not null and ${named ? 'w.public_key = any($2::text[])' : 'w.public_key > $2'}
      order by w.public_key ${named ? '' : 'limit $3'}`,
    values: named ? [usdc.mint, which.wallets] : [usdc.mint, which.after, which.limit],
  })
  return rows.map(({ book, least, ...row }) => ({ ...row, book: BigInt(book), least: BigInt(least) }))
}

/** The newest slot of the final tips to these wallets; 0n when there is none. */
async function newestSlotOf(db: Knex, wallets: readonly string[]): Promise<bigint> {
  const [row] = await query<{ slot: bigint | null }>(db, {
    name: 'reserves.newest-slot',
    text: /* sql */ `
      select max(t.slot) as slot from tips t join parties p on p.id = t.recipient_party
      where p.wallet = any($1::text[]) and t.listed and t.status = 'confirmed' and t.finalized_at is not null`,
    values: [wallets],
  })
  return row?.slot ?? 0n
}
