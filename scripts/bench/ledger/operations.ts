import { createHash } from 'node:crypto'
import type { Knex } from 'knex'
import { DomainError } from '../../../src/kernel/errors.js'
import { type Entry, platformAccount, transferEntries, userAccount } from '../../../src/ledger/accounts.js'
import { credit, postReserved, reserve, voidReserved } from '../../../src/ledger/transfers.js'

/** Identifies a random operation. Equal ids give equal operations, also in another process after a crash. */
interface OperationId {
  readonly seed: string
  readonly writer: number
  readonly number: number
}

export type OperationOutcome = 'posted' | 'repeated' | 'refused'

/** How many operations back a post or void can refer to. */
const earlierOperations = 40
const clearing = platformAccount('custody_wallets', 'USDC')
const payouts = platformAccount('treasury', 'USDC')
const fees = platformAccount('platform_fee', 'USDC')

/**
 * Runs one random operation on these users: credits with and without a currency exchange, reserves that often exceed the
 * balance, and posts and voids of earlier reserves, also of refused or already resolved ones.
 */
export async function doOperation(
  db: Knex,
  users: readonly string[],
  id: OperationId,
): Promise<OperationOutcome> {
  try {
    const { repeated } = await operation(db, users, id)
    return repeated ? 'repeated' : 'posted'
  } catch (error) {
    if (isRefusal(error)) return 'refused'
    throw error
  }
}

function operation(db: Knex, users: readonly string[], id: OperationId) {
  const key = keyOf(id)
  const ref = 'stress'
  const random = randomOf(id)
  const reserved = reserveOf(users, id)
  if (reserved !== undefined) return reserve(db, { key, ref, entries: reserved })
  const earlier = { ...id, number: id.number - 1 - random(earlierOperations) }
  const toResolve = reserveOf(users, earlier)
  if (toResolve === undefined || earlier.number < 0)
    return credit(db, { key, ref, entries: creditEntries(users, random) })
  if (random(2) === 0) return voidReserved(db, keyOf(earlier))
  const [, into] = toResolve as [Entry, Entry]
  return postReserved(db, { key: keyOf(earlier), ref, entries: resolveEntries(into) })
}

/** The entries of the reserve that this operation makes. `undefined` when it is another kind of operation. */
function reserveOf(users: readonly string[], id: OperationId): Entry[] | undefined {
  const random = randomOf({ ...id, seed: `${id.seed} reserve` })
  if (random(3) !== 0) return undefined
  const user = users[random(users.length)] as string
  const units = BigInt(1 + random(2_000_000))
  if (random(4) === 0) return transferEntries(units, clearing, userAccount(user, 'pending', 'USDC'))
  return transferEntries(units, userAccount(user, 'available', 'USDC'), userAccount(user, 'held', 'USDC'))
}

/** The entries that post a reserve: pending money becomes available, held money is paid out less a fee. */
function resolveEntries({ account, amount }: Entry): Entry[] {
  if (account.kind === 'pending')
    return transferEntries(amount, account, { userId: account.userId, kind: 'available', currency: 'USDC' })
  if (amount === 1n) return transferEntries(amount, account, payouts)
  return [
    { account, amount: -amount },
    { account: payouts, amount: amount - 1n },
    { account: fees, amount: 1n },
  ]
}

function creditEntries(users: readonly string[], random: (limit: number) => number): Entry[] {
  const to = userAccount(users[random(users.length)] as string, 'available', 'USDC')
  const units = BigInt(1 + random(1_000_000))
  if (random(2) === 0) return transferEntries(units, clearing, to)
  return [
    ...transferEntries(units * 16n, platformAccount('float_ngn', 'NGN'), platformAccount('fx', 'NGN')),
    { account: platformAccount('fx', 'USDC'), amount: -units - 5n },
    { account: to, amount: units },
    { account: fees, amount: 5n },
  ]
}

/** Whether the ledger refused: not enough money, nothing reserved, or already resolved the other way. */
function isRefusal(error: unknown): boolean {
  if (error instanceof DomainError) return true
  return (
    error instanceof Error && /^(Nothing was reserved as|Another transfer has the idem)/.test(error.message)
  )
}

function keyOf({ writer, number }: OperationId): string {
  return `stress:${writer}:${number}`
}

/** Random numbers below a limit that depend only on the operation's id. */
function randomOf({ seed, writer, number }: OperationId): (limit: number) => number {
  const bytes = createHash('sha256').update(`${seed} ${writer} ${number}`).digest()
  let at = 0
  return (limit) => {
    at = (at + 4) % bytes.length
    return bytes.readUInt32LE(at) % limit
  }
}
