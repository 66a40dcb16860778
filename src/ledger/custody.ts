import type { Knex } from 'knex'
import { usdc } from '../kernel/tokens.js'
import { longTransaction, query, write } from '../platform/database/database.js'
import { lockBalancesOf } from './accounts.js'
import { booksStatementMs } from './invariants.js'

/** What our books say about one token in one creator's custody wallet, in base units. */
export interface CustodyBook {
  readonly userId: string
  readonly mint: string
  /** Credited from the chain, for good. */
  readonly final: bigint
  /** Moved to the treasury, and to the creator's own wallet. */
  readonly swept: bigint
  readonly takenOut: bigint
  /** In transactions that are signed and not at their end. */
  readonly inFlight: bigint
}

/** What is in the wallet by the books, and in no transaction under way. */
export function unboundOf({ final, swept, takenOut, inFlight }: CustodyBook): bigint {
  return final - swept - takenOut - inFlight
}

const columns = /* sql */ `
  c.user_id as "userId", c.mint, c.final::text, c.swept::text, c.taken_out::text as "takenOut", c.in_flight::text as "inFlight"`

type BookRow = Readonly<Record<keyof CustodyBook, string>>

function bookOf({ userId, mint, final, swept, takenOut, inFlight }: BookRow): CustodyBook {
  return {
    userId,
    mint,
    final: BigInt(final),
    swept: BigInt(swept),
    takenOut: BigInt(takenOut),
    inFlight: BigInt(inFlight),
  }
}

/**
 * The books of these creators for one token, counted up to now. Their balances and books do not change until the transaction
 * ends. In the order of the user ids.
 */
export async function lockCustody(
  trx: Knex.Transaction,
  userIds: readonly string[],
  mint: string,
): Promise<CustodyBook[]> {
  await lockBalancesOf(trx, userIds)
  await openBooks(trx, mint, userIds)
  await query(trx, {
    name: 'custody.lock',
    text: `select user_id from custody where user_id = any($1::uuid[]) and mint = $2 order by user_id for update`,
    values: [userIds, mint],
  })
  // A statement of its own: it sees what was committed before the locks.
  await count(trx, mint, userIds)
  return readCustody(trx, mint, userIds)
}

/** Creators whose books are counted by one statement, and the most entries of each that it reads. */
const creatorsPerCount = 200
const entriesPerCount = 1000

/**
 * Counts what was credited since, for one token of these creators or of every one. Exact without locks: the entries of one account get their
 * ids in the order of their commits, so a visible entry has no invisible one before it.
 */
export async function countCustody(
  db: Knex,
  mint: string = usdc.mint,
  userIds: readonly string[] | null = null,
): Promise<void> {
  if (userIds !== null) await openBooks(db, mint, userIds)
  const all = userIds ?? (await longTransaction(db, booksStatementMs, (trx) => openAll(trx, mint)))
  for (let at = 0; at < all.length; at += creatorsPerCount)
    await count(db, mint, all.slice(at, at + creatorsPerCount))
}

/** The books for one token as they were last counted, of these creators or of all. In the order of the user ids. */
export async function readCustody(
  db: Knex,
  mint: string = usdc.mint,
  userIds: readonly string[] | null = null,
): Promise<CustodyBook[]> {
  const rows = await query<BookRow>(db, {
    name: 'custody.read',
    text: /* sql */ `
      select ${columns} from custody c
      where c.mint = $1 and ($2::uuid[] is null or c.user_id = any($2)) order by c.user_id`,
    values: [mint, userIds],
  })
  return rows.map(bookOf)
}

/** Opens every missing book. Returns the creators of all books. */
async function openAll(db: Knex, mint: string): Promise<string[]> {
  await openBooks(db, mint, null)
  return (await readCustody(db, mint)).map(({ userId }) => userId)
}

/** Opens the missing books: of the creators named, or of all to whom something may have been credited. */
async function openBooks(db: Knex, mint: string, userIds: readonly string[] | null): Promise<void> {
  const candidates =
    userIds !== null
      ? 'select unnest($2::uuid[]) as user_id'
      : mint === usdc.mint
        ? `select user_id from ledger_accounts where $2::uuid[] is null and user_id is not null and kind = 'available' and currency = 'USDC'`
        : 'select user_id from wallets where $2::uuid[] is null and public_key is not null'
  await write(db, {
    name: `custody.open-${userIds !== null ? 'named' : mint === usdc.mint ? 'usdc' : 'other'}`,
    text: /* sql */ `
      insert into custody (user_id, mint)
      select user_id, $1 from (${candidates}) as candidates
      where not exists (select from custody where user_id = candidates.user_id and mint = $1)
      order by user_id on conflict do nothing`,
    values: [mint, userIds],
  })
}

/** What the ledger says was credited from the chain since the last counting: the posts of tip credits. */
const creditedUsdc = /* sql */ `
  select k.user_id, k.counted_entry as before, e.last, k.final + e.units as final, e.entries = ${entriesPerCount} as more
  from custody k
  join ledger_accounts a on a.user_id = k.user_id and a.kind = 'available' and a.currency = 'USDC'
  cross join lateral (
    select max(n.id) as last, count(*) as entries,
      coalesce(sum(n.amount) filter (where t.kind = 'post' and t.idem like 'tip:%'), 0) as units
    from (select id, transfer_id, amount from ledger_entries
      where account_id = a.id and id > k.counted_entry order by id limit ${entriesPerCount}) n
    join ledger_transfers t on t.id = n.transfer_id) e
  where k.mint = $1 and k.user_id = any($2::uuid[]) and e.last is not null`

/** The ledger counts only USDC and naira. Of other tokens the final tips to the custody wallet count, all of them each time. */
const receivedTips = /* sql */ `
  select k.user_id, k.counted_entry as before, 0 as last, s.final, false as more
  from custody k join parties p on p.user_id = k.user_id
  cross join lateral (
    select coalesce(sum(t.received_raw), 0) as final from tips t
    where t.recipient_party = p.id and t.mint = $1 and t.kind = 'chain' and t.listed and t.status = 'confirmed'
      and t.finalized_at is not null and t.paid_wallet is null) s
  where k.mint = $1 and k.user_id = any($2::uuid[]) and s.final > k.final`

/** The condition on the entry counted before skips a book that another process has counted meanwhile. */
async function count(db: Knex, mint: string, userIds: readonly string[]): Promise<void> {
  const isUsdc = mint === usdc.mint
  for (let more = true; more; ) {
    const counted = await query<{ more: boolean }>(db, {
      name: `custody.count-${isUsdc ? 'usdc' : 'tips'}`,
      text: /* sql */ `
        with fresh as materialized (${isUsdc ? creditedUsdc : receivedTips})
        update custody c set final = f.final, counted_entry = f.last from fresh f
        where c.user_id = f.user_id and c.mint = $1 and c.counted_entry = f.before and f.final >= c.final
        returning f.more`,
      values: [mint, userIds],
    })
    more = counted.some((one) => one.more)
  }
}

/**
 * - `sign`: a signature over it is committed
 * - `sweep`: it landed in the treasury; `takeOut`: it landed in the creator's own wallet
 * - `giveBack`: it failed, or can no longer land
 */
export type CustodyStep = 'sign' | 'sweep' | 'takeOut' | 'giveBack'

/** What each step changes; `m.amount` is the amount of the move. */
const changes: Readonly<Record<CustodyStep, string>> = {
  sign: 'in_flight = c.in_flight + m.amount',
  sweep: 'in_flight = c.in_flight - m.amount, swept = c.swept + m.amount',
  takeOut: 'in_flight = c.in_flight - m.amount, taken_out = c.taken_out + m.amount',
  giveBack: 'in_flight = c.in_flight - m.amount',
}

export interface CustodyMove {
  readonly userId: string
  readonly mint: string
  readonly amount: bigint
}

/**
 * Books a step of a transaction, in the transaction that commits it. Call `lockCustody` first. The database refuses more than
 * the book has. Each creator and token once.
 */
export async function moveCustody(
  trx: Knex.Transaction,
  step: CustodyStep,
  moves: readonly CustodyMove[],
): Promise<void> {
  const changed = await query(trx, {
    name: `custody.${step}`,
    text: /* sql */ `
      update custody c set ${changes[step]}
      from unnest($1::uuid[], $2::text[], $3::numeric[]) as m(user_id, mint, amount)
      where c.user_id = m.user_id and c.mint = m.mint and m.amount > 0
      returning c.user_id`,
    values: [
      moves.map(({ userId }) => userId),
      moves.map(({ mint }) => mint),
      moves.map(({ amount }) => String(amount)),
    ],
  })
  if (changed.length !== moves.length)
    throw new Error(`custody has ${changed.length} of ${moves.length} books`)
}
