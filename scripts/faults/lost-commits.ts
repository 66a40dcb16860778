import type { Knex } from 'knex'
import { type Customer, withdrawSurely } from './client.js'

/** How the tries went. */
export interface LostCommits {
  readonly tries: number
  /** First answers by status; 0: none. */
  readonly first: Readonly<Record<string, number>>
  /** What must never be. */
  readonly faults: readonly string[]
}

const amountUSDC = 2

/**
 * Withdraws again and again through a web process whose database connection ends at each COMMIT of a withdrawal, and
 * repeats each under its key until it is answered. Each must hold its money once and be answered 200; nothing is refunded.
 */
export async function loseCommits(
  db: Knex,
  url: string,
  customer: Customer,
  tries: number,
  tell: (progress: string) => void = () => undefined,
): Promise<LostCommits> {
  const first: Record<string, number> = {}
  const faults: string[] = []
  for (let n = 1; n <= tries; n++) {
    const answered = await withdrawSurely(url, customer, amountUSDC)
    const status = String(answered?.before[0] ?? answered?.status)
    first[status] = (first[status] ?? 0) + 1
    if (answered?.status !== 200) faults.push(`try ${n} was answered ${answered?.status} ${answered?.error}`)
    if (answered?.before.includes(500)) faults.push(`try ${n} was answered 500`)
    faults.push(...(await holdsOf(db, customer, n)))
    if (faults.length > 0) break
    if (n % 20 === 0) tell(`${n} of ${tries} commits lost`)
  }
  return { tries, first, faults }
}

async function holdsOf(db: Knex, { userId }: Customer, wanted: number): Promise<string[]> {
  const [rows, transfers, account] = await Promise.all([
    db('withdrawals').where({ user_id: userId, status: 'pending' }).count({ count: '*' }),
    db('ledger_transfers').where({ kind: 'void' }).count({ count: '*' }),
    db('ledger_accounts').where({ user_id: userId, kind: 'held', currency: 'USDC' }).first('balance'),
  ])
  const expected = [wanted, 0, wanted * amountUSDC * 1e6]
  const actual = [Number(rows[0]?.['count']), Number(transfers[0]?.['count']), Number(account?.balance ?? 0)]
  return actual.every((count, n) => count === expected[n])
    ? []
    : [`withdrawals, refunds and held micro-USDC are ${actual.join(', ')} instead of ${expected.join(', ')}`]
}
