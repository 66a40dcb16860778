import { createHash } from 'node:crypto'
import type { Knex } from 'knex'
import { DomainError } from '../../src/kernel/errors.js'
import { type Entry, platformAccount, transferEntries, userAccount } from '../../src/ledger/accounts.js'
import { credit, postReserved, reserve, voidReserved } from '../../src/ledger/transfers.js'

/** Which random operation: the same numbers are the same operation, also in another process after a crash. */
export interface Draw {
  readonly seed: string
  readonly writer: number
  readonly number: number
}

export type Outcome = 'posted' | 'repeated' | 'refused'

/** How far back an operation looks for a reserve to resolve. */
const lookBack = 40
const clearing = platformAccount('chain_clearing', 'USDC')
const payouts = platformAccount('provider_clearing', 'USDC')
const fees = platformAccount('platform_fee', 'USDC')

/**
 * Does one random operation on these users: credits with and without a change of currency, reserves that are often
 * more than there is, posts and voids of earlier ones, also of those that were refused or resolved already.
 */
export async function doOperation(db: Knex, users: readonly string[], draw: Draw): Promise<Outcome> {
  try {
    const { repeated } = await operation(db, users, draw)
    return repeated ? 'repeated' : 'posted'
  } catch (error) {
    if (isRefusal(error)) return 'refused'
    throw error
  }
}

function operation(db: Knex, users: readonly string[], draw: Draw) {
  const key = keyOf(draw)
  const ref = 'stress'
  const die = diceOf(draw)
  const reserved = reserveOf(users, draw)
  if (reserved !== undefined) return reserve(db, { key, ref, entries: reserved })
  const earlier = { ...draw, number: draw.number - 1 - die(lookBack) }
  const toResolve = reserveOf(users, earlier)
  if (toResolve === undefined || earlier.number < 0)
    return credit(db, { key, ref, entries: creditLegs(users, die) })
  if (die(2) === 0) return voidReserved(db, keyOf(earlier))
  const [, into] = toResolve as [Entry, Entry]
  return postReserved(db, { key: keyOf(earlier), ref, entries: onwards(into) })
}

/** The entries of the reserve this operation is; undefined when it is another one. */
function reserveOf(users: readonly string[], draw: Draw): Entry[] | undefined {
  const die = diceOf({ ...draw, seed: `${draw.seed} reserve` })
  if (die(3) !== 0) return undefined
  const user = users[die(users.length)] as string
  const units = BigInt(1 + die(2_000_000))
  if (die(4) === 0) return transferEntries(units, clearing, userAccount(user, 'pending', 'USDC'))
  return transferEntries(units, userAccount(user, 'available', 'USDC'), userAccount(user, 'held', 'USDC'))
}

/** What was pending becomes available, what was held is paid out less a fee. */
function onwards({ account, amount }: Entry): Entry[] {
  if (account.kind === 'pending')
    return transferEntries(amount, account, { userId: account.userId, kind: 'available', currency: 'USDC' })
  if (amount === 1n) return transferEntries(amount, account, payouts)
  return [
    { account, amount: -amount },
    { account: payouts, amount: amount - 1n },
    { account: fees, amount: 1n },
  ]
}

function creditLegs(users: readonly string[], die: (sides: number) => number): Entry[] {
  const to = userAccount(users[die(users.length)] as string, 'available', 'USDC')
  const units = BigInt(1 + die(1_000_000))
  if (die(2) === 0) return transferEntries(units, clearing, to)
  return [
    ...transferEntries(
      units * 16n,
      platformAccount('provider_clearing', 'NGN'),
      platformAccount('fx', 'NGN'),
    ),
    { account: platformAccount('fx', 'USDC'), amount: -units - 5n },
    { account: to, amount: units },
    { account: fees, amount: 5n },
  ]
}

/** What callers are told when there is not enough, nothing to resolve, or it was resolved the other way. */
function isRefusal(error: unknown): boolean {
  if (error instanceof DomainError) return true
  return (
    error instanceof Error && /^(Nothing was reserved as|Another transfer has the idem)/.test(error.message)
  )
}

function keyOf({ writer, number }: Draw): string {
  return `stress:${writer}:${number}`
}

/** A die whose throws depend on the draw alone. */
function diceOf({ seed, writer, number }: Draw): (sides: number) => number {
  const bytes = createHash('sha256').update(`${seed} ${writer} ${number}`).digest()
  let at = 0
  return (sides) => {
    at = (at + 4) % bytes.length
    return bytes.readUInt32LE(at) % sides
  }
}
