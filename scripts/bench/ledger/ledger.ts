import type { Knex } from 'knex'
import { platformAccount, transferEntries, userAccount } from '../../../src/ledger/accounts.js'
import { checkBooks } from '../../../src/ledger/invariants.js'
import { credit, reserve } from '../../../src/ledger/transfers.js'
import { createDb } from '../../../src/platform/database/database.js'
import { printProgress } from '../../bootstrap/progress.mjs'
import { type BenchOptions, type Column, measureRounds, outcomeOf, section } from '../measurement.js'
import { onServers } from '../servers.js'
import { firstPlatformAccount, peerSchema, platformAccounts, postAsPeer } from './peer.js'

const defaultRounds = 5
const secondsEach = 2
const writers = 16
const users = 10_000
const startUnits = 1_000_000_000_000n

/**
 * What is measured. `credit`: three entries, for the clearing account, a creator and a fee account. `hold`: two entries of
 * one user. The peers store a balance for every account. They use 1,000 platform accounts instead of one, so that they do
 * not wait for one row.
 */
const names = ['credit', 'credit, peer', 'hold', 'hold, peer'] as const
type Name = (typeof names)[number]

interface BenchAccounts {
  readonly db: Knex
  readonly userIds: readonly string[]
  /** Ids of `available` and `held` of each user. */
  readonly accountIds: readonly (readonly [bigint, bigint])[]
}

let serial = 0

const columns: Column<Name, number>[] = [
  { head: 'postings per s', digits: 0, of: (perSecond) => perSecond, better: 'higher' },
  { head: 'of credit, peer', digits: 2, of: (perSecond, round) => perSecond / round['credit, peer'] },
  { head: 'of hold, peer', digits: 2, of: (perSecond, round) => perSecond / round['hold, peer'] },
]

/** Compares ledger transfers with a simple peer. */
export function benchLedger({ rounds = defaultRounds }: BenchOptions) {
  return onServers(async ({ databaseUrl }) => {
    printProgress(`creating the accounts of ${users} users`)
    const people = await onPool(databaseUrl, createAccounts)
    // Connections cache their query plans, so the measured connections are opened after the tables have grown.
    await onPool(databaseUrl, async (db) => {
      for (const post of Object.values(postingsOf({ db, ...people }))) await rate(post)
      await db.raw('vacuum analyze')
    })
    const results = await onPool(databaseUrl, async (db) => {
      const posts = postingsOf({ db, ...people })
      const measured = await measureRounds(names, rounds, (name) => rate(posts[name]))
      const { holds } = await checkBooks(db)
      if (!holds) throw new Error('an invariant of the ledger does not hold after the benchmark')
      return measured
    })
    const posted = section('', results, columns, { credit: 'credit', hold: 'hold' })
    return outcomeOf(results, [posted], `${secondsEach} s, ${writers} writers`)
  })
}

async function onPool<Result>(url: string, work: (db: Knex) => Promise<Result>): Promise<Result> {
  const db = createDb(url, writers)
  try {
    return await work(db)
  } finally {
    await db.destroy()
  }
}

async function createAccounts(db: Knex): Promise<Omit<BenchAccounts, 'db'>> {
  await db.raw(/* sql */ `
    insert into users (email, name, password_hash) select i || '@example.com', 'Ada Lovelace', 'none' from generate_series(1, ${users}) i;
    insert into ledger_accounts (user_id, kind, currency, balance)
      select u.id, k, 'USDC', 0 from users u, unnest(array['available', 'held']) k;
    with t as (insert into ledger_transfers (idem, kind, ref) values ('start', 'credit', 'bench') returning id)
    insert into ledger_entries (transfer_id, account_id, amount, balance_after)
      select t.id, a.id, case kind when 'available' then ${startUnits} else -${startUnits} * ${users} end, a.balance
      from t, ledger_accounts a where kind = 'available' or (kind = 'custody_wallets' and currency = 'USDC');
    ${peerSchema}
    analyze`)
  const { rows } = await db.raw(
    `select user_id, array_agg(id order by kind) as ids from ledger_accounts where user_id is not null group by user_id`,
  )
  return {
    userIds: rows.map((row: { user_id: string }) => row.user_id),
    accountIds: rows.map((row: { ids: [string, string] }) => [BigInt(row.ids[0]), BigInt(row.ids[1])]),
  }
}

function postingsOf({ db, userIds, accountIds }: BenchAccounts) {
  const anyone = (): string => userIds[random(users)] as string
  const anyAccounts = () => accountIds[random(users)] as readonly [bigint, bigint]
  const half = platformAccounts / 2
  const anyPlatform = (from: number): bigint => BigInt(firstPlatformAccount + from + random(half))
  return {
    credit: () => {
      const entries = [
        { account: platformAccount('custody_wallets', 'USDC'), amount: -100n },
        { account: userAccount(anyone(), 'available', 'USDC'), amount: 95n },
        { account: platformAccount('platform_fee', 'USDC'), amount: 5n },
      ]
      return credit(db, { key: nextKey(), ref: 'bench', entries })
    },
    'credit, peer': () =>
      postAsPeer(db, nextKey(), [
        { account: anyPlatform(0), amount: -100n },
        { account: anyAccounts()[0], amount: 95n },
        { account: anyPlatform(half), amount: 5n },
      ]),
    hold: () => {
      const user = anyone()
      const entries = transferEntries(
        1n,
        userAccount(user, 'available', 'USDC'),
        userAccount(user, 'held', 'USDC'),
      )
      return reserve(db, { key: nextKey(), ref: 'bench', entries })
    },
    'hold, peer': () => {
      const [from, to] = anyAccounts()
      return postAsPeer(db, nextKey(), [
        { account: from, amount: -1n },
        { account: to, amount: 1n },
      ])
    },
  } satisfies Record<Name, () => Promise<unknown>>
}

/** Transfers per second of concurrent writers, each of which waits for its durable commit. */
async function rate(post: () => Promise<unknown>): Promise<number> {
  const until = performance.now() + secondsEach * 1000
  let posted = 0
  await Promise.all(
    Array.from({ length: writers }, async () => {
      for (; performance.now() < until; posted += 1) await post()
    }),
  )
  return posted / secondsEach
}

function nextKey(): string {
  serial += 1
  return `bench:${serial}`
}

function random(below: number): number {
  return Math.floor(Math.random() * below)
}
