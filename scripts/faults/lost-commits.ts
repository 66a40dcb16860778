import type { Knex } from 'knex'
import { type Creator, withdrawUntilFinal } from './client.js'

/** The result of a run. */
export interface LostCommits {
  readonly tries: number
  /** First answers by status. 0: no answer. */
  readonly first: Readonly<Record<string, number>>
  /** Broken promises. Empty when all is well. */
  readonly faults: readonly string[]
}

const amountUSDC = 2

/**
 * Creates withdrawals through a web process whose database connection breaks at each COMMIT, and repeats each under its
 * idempotency key until the answer is final. Each must reserve its money once and be answered 200. Nothing is refunded.
 */
export async function withdrawThroughLostCommits(
  db: Knex,
  url: string,
  creator: Creator,
  tries: number,
  report: (progress: string) => void = () => undefined,
): Promise<LostCommits> {
  const first: Record<string, number> = {}
  const faults: string[] = []
  for (let n = 1; n <= tries; n++) {
    const answer = await withdrawUntilFinal(url, creator, amountUSDC)
    const status = String(answer?.earlierStatuses[0] ?? answer?.status)
    first[status] = (first[status] ?? 0) + 1
    if (answer?.status !== 200) faults.push(`try ${n} was answered ${answer?.status} ${answer?.error}`)
    if (answer?.earlierStatuses.includes(500)) faults.push(`try ${n} was answered 500`)
    faults.push(...(await heldFaults(db, creator, n)))
    if (faults.length > 0) break
    if (n % 20 === 0) report(`${n} of ${tries} commits lost`)
  }
  return { tries, first, faults }
}

async function heldFaults(db: Knex, { userId }: Creator, withdrawals: number): Promise<string[]> {
  const [rows, transfers, account] = await Promise.all([
    db('withdrawals').where({ user_id: userId, status: 'pending' }).count({ count: '*' }),
    db('ledger_transfers').where({ kind: 'void' }).count({ count: '*' }),
    db('ledger_accounts').where({ user_id: userId, kind: 'held', currency: 'USDC' }).first('balance'),
  ])
  const expected = [withdrawals, 0, withdrawals * amountUSDC * 1e6]
  const actual = [Number(rows[0]?.['count']), Number(transfers[0]?.['count']), Number(account?.balance ?? 0)]
  return actual.every((count, n) => count === expected[n])
    ? []
    : [`withdrawals, refunds and held micro-USDC are ${actual.join(', ')} instead of ${expected.join(', ')}`]
}
