import test from 'ava'
import type { Knex } from 'knex'
import { type Creator, withdrawUntilFinal } from '../../scripts/kit/client.js'
import { creatorWithBalance } from '../helpers/make/withdrawals.js'
import { startWebLosingCommits } from '../helpers/servers/service-process.js'
import { useWorld } from '../helpers/servers/world.js'
import { listBrokenInvariants } from '../ledger/support.js'

const world = useWorld(test, { fiat: true })

test('a withdrawal whose COMMIT was not answered reserves the money once, however often it is repeated under its key', async (t) => {
  t.timeout(150_000)
  const ada = await creatorWithBalance(world(), 100)
  const { url, logs } = await startWebLosingCommits(t, world().env)
  const customer = { userId: ada.user.id, cookie: `session=${ada.session}` }
  const { first, faults } = await withdrawThroughLostCommits(world().db, url, customer, 15)
  t.log(`first answers: ${JSON.stringify(first)}`)
  for (const line of logs) if (line.level >= 50) t.log(JSON.stringify(line))
  t.deepEqual(faults, [])
  t.deepEqual(await listBrokenInvariants(world().db), [])
})

const amountUSDC = 2

/**
 * Creates withdrawals through a web process whose database connection breaks at each COMMIT, and repeats each under its
 * idempotency key until the answer is final. Each must reserve its money once and be answered 200. Nothing is refunded.
 */
async function withdrawThroughLostCommits(db: Knex, url: string, creator: Creator, tries: number) {
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
  }
  return { first, faults }
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
