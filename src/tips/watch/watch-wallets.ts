import type { Knex } from 'knex'
import { type DueWatch, type WatchedAccount, watchQueue } from '../../accounts/wallets/watch-queue.js'
import { tokens } from '../../kernel/tokens.js'
import { query } from '../../platform/database/database.js'
import { finishRows, msToNextDueRow, type Schedule, takeDueRows } from '../../platform/database/due-rows.js'
import type { Batch } from '../../platform/worker/batch-loop.js'
import type { Chain, ChainTransaction, NamingSignature } from '../../ports/chain.js'
import type { Services } from '../../services.js'
import { ownersOf } from '../confirm/credit-tips.js'
import { type LandedPayment, paymentsIn, recordLanded } from '../confirm/record-landed.js'
import { microUsd } from '../read/present.js'
import { namedIn } from '../verify/load-match-context.js'
import {
  newAccount,
  pageOf,
  type ReadPage,
  readPage,
  seeHeld,
  waitFor,
  waitForUnread,
} from './watch-account.js'

type Needs = Pick<Services, 'db' | 'transact' | 'chain' | 'config' | 'log'>

/** RPC calls of one finder in a minute, on average: each call in a JSON-RPC batch counts. */
const callsPerMinute = 120
/** Transactions that a batch reads. What is beyond is read by a later one. */
const transactionsPerBatch = 200
/** Accounts of one `getMultipleAccounts`. */
const accountsPerCall = 100
const hourMs = 3_600_000
const none: ReadonlyMap<string, ChainTransaction> = new Map()

/**
 * Finds money that was sent plainly to a custody wallet's address, without an intent and without a report (docs/decisions/0081).
 * It reads what the wallets hold, a hundred accounts in one call, and the transactions of accounts only where that has
 * changed. What they brought is recorded like any claim, and the verifier decides about it.
 */
export function createWatchBatch(services: Needs): Batch {
  const { db, chain } = services
  let rested = performance.now()
  return async () => {
    const restMs = rested - performance.now()
    if (restMs > 0) return { taken: 0, nextDueMs: restMs }
    const due = await takeDueRows<DueWatch>(db, watchQueue)
    if (due.length === 0) return { taken: 0, nextDueMs: await msToNextDueRow(db, watchQueue) }
    const counted = countCalls(chain)
    const { schedules, failure } = await look(services, counted.chain, due).catch((error: unknown) => ({
      schedules: due.map(({ id, attempts, nowMs, activeMs }): Schedule => {
        return { id, attempts, dueInMs: waitFor(nowMs - activeMs) }
      }),
      failure: error,
    }))
    await finishRows<Schedule>(db, watchQueue, schedules)
    rested = performance.now() + (counted.calls() * 60_000) / callsPerMinute
    if (failure !== undefined) throw failure
    return { taken: due.length }
  }
}

/** The calls of a batch, with their number as the node counts them. */
function countCalls({ held, signaturePages, transactions }: Chain) {
  let calls = 0
  const counting = {
    held: (addresses: readonly string[]) => {
      calls += Math.ceil(addresses.length / accountsPerCall)
      return held(addresses)
    },
    signaturePages: (pages: Parameters<typeof signaturePages>[0]) => {
      calls += pages.length
      return signaturePages(pages)
    },
    transactions: (signatures: readonly string[]) => {
      calls += signatures.length
      return transactions(signatures)
    },
  }
  return { chain: counting, calls: () => calls }
}

type CountedChain = ReturnType<typeof countCalls>['chain']

/** A wallet with its accounts of listed tokens as they are now. Those of other tokens are nobody's business. */
interface Looked extends DueWatch {
  readonly changed: boolean
  readonly now: Map<string, WatchedAccount>
}

interface Look {
  readonly schedules: Schedule[]
  /** Why pages were not read. What the accounts hold is kept all the same. */
  readonly failure: unknown
}

async function look(services: Needs, chain: CountedChain, due: readonly DueWatch[]): Promise<Look> {
  const addressesOf = (wallet: string): string[] => [
    wallet,
    ...tokens.map(({ mint }) => services.chain.associatedAccount(wallet, mint)),
  ]
  const held = await chain.held(due.flatMap(({ wallet }) => addressesOf(wallet)))
  const looked = due.map((watch): Looked => {
    const now = new Map(Object.entries(watch.accounts))
    let changed = false
    for (const address of addressesOf(watch.wallet)) {
      const before = now.get(address) ?? newAccount
      const after = seeHeld(before, held.get(address) ?? BigInt(before.held), watch.nowMs)
      if (after === before) continue
      changed = true
      now.set(address, after)
    }
    return { ...watch, changed, now }
  })
  const failure = await readPages(services, chain, looked).then(
    () => undefined,
    (error: unknown) => error,
  )
  const schedules = looked.map(({ id, attempts, nowMs, activeMs, changed, now }) => ({
    id,
    attempts,
    dueInMs: waitFor(changed ? 0 : nowMs - activeMs),
    accounts: JSON.stringify(Object.fromEntries(now)),
    active: changed,
  }))
  return { schedules, failure }
}

interface AccountPage extends ReadPage {
  readonly looked: Looked
  readonly address: string
  readonly account: WatchedAccount
}

/** Reads a page of each account that has changed, and records what arrived. Moves the accounts on that were read. */
async function readPages(services: Needs, chain: CountedChain, looked: readonly Looked[]): Promise<void> {
  const pages = await askForPages(services, chain, looked)
  const wanted = [...new Set(pages.flatMap((page) => page.wanted))]
  const transactions = wanted.length === 0 ? none : await chain.transactions(wanted)
  await recordFoundIn(services, [...transactions.values()])
  for (const { looked: one, address, account, wanted: signatures, after } of pages) {
    const unread = signatures.filter((signature) => !transactions.has(signature))
    const waiting = unread.length === 0 ? undefined : waitForUnread(account, one.nowMs)
    one.now.set(address, waiting ?? after)
    if (unread.length > 0 && waiting === undefined)
      services.log.error(
        { address, signatures: unread },
        'no node gives these transactions of a custody wallet',
      )
  }
}

/** The pages that a batch reads, with the transactions that no row knows. */
async function askForPages(
  { db, config }: Needs,
  chain: CountedChain,
  looked: readonly Looked[],
): Promise<AccountPage[]> {
  const windowMs = config.tips.claimWindowHours * hourMs
  const asked = looked.flatMap((one) =>
    [...one.now].flatMap(([address, account]) => {
      const page = pageOf(address, account)
      return page === undefined ? [] : [{ looked: one, address, account, page }]
    }),
  )
  if (asked.length === 0) return []
  const answers = await chain.signaturePages(asked.map(({ page }) => page))
  const known = await readKnown(db, [...answers.values()].flat())
  const pages = asked.flatMap(({ looked: one, address, account }): AccountPage[] => {
    const answer = answers.get(address)
    if (answer === undefined) return []
    const read = readPage(account, answer, one.nowMs, windowMs)
    const wanted = read.wanted.filter((signature) => !known.has(signature))
    return [{ looked: one, address, account, after: read.after, wanted }]
  })
  let count = 0
  return pages.filter(({ wanted }, index) => {
    count += wanted.length
    return index === 0 || count <= transactionsPerBatch
  })
}

/** Those of the signatures that are recorded already. */
async function readKnown(db: Knex, page: readonly NamingSignature[]): Promise<Set<string>> {
  const rows = await query<{ id: string }>(db, {
    name: 'watch.known',
    text: 'select id from tips where id = any($1::text[])',
    values: [page.map(({ signature }) => signature)],
  })
  return new Set(rows.map(({ id }) => id))
}

/** Records what arrived in custody wallets. A transaction that debits one is our own doing, and dust is no tip. */
async function recordFoundIn(services: Needs, transactions: readonly ChainTransaction[]): Promise<void> {
  const { db, transact, chain, config } = services
  if (transactions.length === 0) return
  const owners = await ownersOf(db, [...new Set(transactions.flatMap(namedIn))])
  const found = transactions.map((transaction) => {
    const named = new Map([...owners].filter(([wallet]) => namedIn(transaction).includes(wallet)))
    return paymentsIn(chain, transaction, named)
  })
  const worth = await worthOf(db)
  const leastMicro = BigInt(Math.round(config.tips.minUsd * 1e6))
  const tips = found
    .filter((payments) => payments.some((payment) => (worth(payment) ?? leastMicro) >= leastMicro))
    .flat()
  if (tips.length === 0) return
  await transact(async ({ trx, wake }) => {
    await recordLanded(trx, tips, config.tips.claimWindowHours)
    wake('verifier')
  })
}

/** The value in micro-dollars at the last known price. Undefined without one. */
async function worthOf(db: Knex): Promise<(payment: LandedPayment) => bigint | undefined> {
  const prices = await query<{ mint: string; usd: string }>(db, {
    name: 'watch.prices',
    text: 'select mint, usd::text from prices',
  })
  const usdOf = new Map(prices.map(({ mint, usd }) => [mint, usd]))
  return ({ token, received }) => {
    const usd = usdOf.get(token.mint) ?? null
    return usd === null && !token.stable
      ? undefined
      : microUsd({ ...token, displayRaw: String(received), usd })
  }
}
